// SPDX-License-Identifier: Apache-2.0
#include "schedule/adaptive/latency_objective.h"

#include <gtest/gtest.h>

#include "request/testing/make_model.h"

namespace nereid::schedule {
namespace {

constexpr uint64_t kMs = 1'000'000;

TEST(LatencyObjective, BeginsLikeDynamicBatchingWithoutADelay) {
  LatencyObjective objective(20 * kMs, 64);
  EXPECT_EQ(objective.SizeLimit(0, 0), 64u);
  EXPECT_EQ(objective.size_limit(), 64u);
  EXPECT_EQ(objective.WaitUntil({1, 0, 0}, 0), 0u);
}

TEST(LatencyObjective, TheRulesApplyOnceTheyAreTried) {
  LatencyObjective objective(20 * kMs, 64);
  bool waited = false;
  for (uint64_t i = 0, now_ns = 0; i < 2000; ++i) {
    now_ns += 2 * kMs;
    waited = waited || objective.WaitUntil({1, now_ns, now_ns}, now_ns) > now_ns;
    objective.OnTaken({1, now_ns, now_ns}, now_ns);
    // 1 ms and 0.1 ms for each request
    objective.OnExecuted(1 + i % 4, 0, kMs + (1 + i % 4) * kMs / 10, now_ns);
  }
  EXPECT_TRUE(waited);
}

base::Result<std::optional<uint64_t>> Read(const std::string& value, const std::string& more) {
  return ReadLatencyObjective(
      *request::MakeModel(
           "name: \"m\" max_batch_size: 8 parameters { key: \"latency_objective_us\" "
           "value { string_value: \"" +
           value + "\" } } " + more)
           ->config);
}

TEST(ReadLatencyObjective, ReadsMicroseconds) {
  EXPECT_EQ(Read("20000", "dynamic_batching { }").value(), 20'000'000u);
  EXPECT_EQ(ReadLatencyObjective(*request::MakeModel("name: \"m\"")->config).value(), std::nullopt);
}

TEST(ReadLatencyObjective, NamesTheParameter) {
  for (const char* bad : {"", "fast", "99", "-5", "20ms", "3600000001", "99999999999999999999"}) {
    EXPECT_EQ(Read(bad, "dynamic_batching { }").status().message(),
              "model 'm': parameter 'latency_objective_us' is '" + std::string(bad) +
                  "', but must be an integer from 100 to 3600000000");
  }
  EXPECT_EQ(Read("20000", "").status().message(),
            "model 'm': parameter 'latency_objective_us' needs dynamic_batching, which the model "
            "does not have");
}

}  // namespace
}  // namespace nereid::schedule
