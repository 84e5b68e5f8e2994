// SPDX-License-Identifier: Apache-2.0
#include "model/host_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "request/testing/make_model.h"

namespace nereid::model {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

int OneAllowedCpu() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) return cpu;
  }
  return 0;
}

TEST(HostPlacement, ReadsThePolicy) {
  const int cpu = OneAllowedCpu();
  const HostPolicies policies = {{"cpu", {{"cpu-cores", std::to_string(cpu)}}}, {"empty", {}}};
  EXPECT_THAT(PlacementOf(policies, "cpu").value().cpus, ElementsAre(cpu));
  EXPECT_TRUE(PlacementOf(policies, "empty").value().empty());
  EXPECT_TRUE(PlacementOf(policies, "absent").value().empty());
}

TEST(HostPlacement, FailuresNameThePolicy) {
  const auto failure = [](const std::string& setting, const std::string& value) {
    return PlacementOf({{"p", {{setting, value}}}}, "p").status().message();
  };
  EXPECT_EQ(failure("cpu-cores", "x"),
            "host policy 'p': 'x' is no list of CPUs, like 0-3,8 (each below 1024)");
  EXPECT_THAT(failure("cpu-cores", "1023"), StartsWith("host policy 'p': CPU 1023 is not there"));
  EXPECT_EQ(failure("numa-node", "999"), "host policy 'p': this machine has no NUMA node 999");
  EXPECT_EQ(failure("numa-node", "x"),
            "host policy 'p': numa-node is 'x', but must be the number of a node");
}

TEST(HostPlacement, OfAWholeModel) {
  const std::string cpu = std::to_string(OneAllowedCpu());
  const HostPolicies policies = {{"cpu", {{"cpu-cores", cpu}}}, {"free", {}}};
  const auto cpus = [&policies](const std::string& groups) {
    return CommonPlacement(policies, *request::MakeModel("name: \"m\" " + groups)->config)
        .value()
        .cpus.size();
  };
  const std::string plain = "instance_group { kind: KIND_CPU count: 1 } ";
  const std::string other = "instance_group { kind: KIND_CPU count: 1 host_policy: \"free\" } ";
  EXPECT_EQ(cpus(plain), 1u);
  EXPECT_EQ(cpus(plain + plain), 1u);
  EXPECT_EQ(cpus(other), 0u);
  EXPECT_EQ(cpus(plain + other), 0u);
  EXPECT_EQ(cpus(plain + "instance_group { kind: KIND_MODEL count: 1 } "), 0u);
}

}  // namespace
}  // namespace nereid::model
