// SPDX-License-Identifier: Apache-2.0
// A simulated server (testing/simulated_model.h) whose clients send a request after the answer to
// the one before, with the cost curves of real models: the mean duration of an execution by its
// batch, from `bench/adaptive_batching --curve` (one thread, on two cores that other programs also
// used).
#include <gtest/gtest.h>

#include <cstdio>

#include "schedule/adaptive/testing/simulated_model.h"

namespace nereid::schedule {
namespace {

struct Curve {
  const char* name;
  CostCurve cost;
  uint64_t objective_us;
  double seconds;
  // The least throughput, as part of that without an objective: a trial takes 3 % for no loss.
  double least = 0.97;
};

std::vector<Curve> Curves() {
  return {
      {"bert", CostCurve({{1, 205}, {2, 452}, {4, 925}, {8, 1860}, {16, 3760}}), 600'000, 600},
      {"resnet50", CostCurve({{1, 106}, {2, 187}, {4, 406}, {8, 787}, {16, 1870}}), 300'000, 400},
      {"forest", CostCurve({{1, 0.0037}, {2, 0.0052}, {4, 0.0093}, {8, 0.039}, {16, 0.099}}), 2'000,
       0.6},
      {"network", CostCurve({{1, 0.0028}, {2, 0.0029}, {4, 0.0036}, {8, 0.0039}, {16, 0.0049}}),
       2'000, 0.6},
      // Two instances do half of the work if two clients share batches, and are 5 % slower.
      {"fixed cost", CostCurve(2, 0.1), 20'000, 30, 0.94},
  };
}

class ClosedLoop : public ::testing::TestWithParam<int> {};

TEST_P(ClosedLoop, AnObjectiveCostsNoThroughput) {
  for (const Curve& curve : Curves()) {
    for (const int instances : {1, 2}) {
      SimulatedLoad load;
      load.clients = GetParam();
      load.cost = curve.cost;
      load.seconds = curve.seconds;
      load.instances = instances;
      load.unmeasured = 0.5;  // learning
      const SimulatedOutcome with = SimulatedModel("", curve.objective_us, load).Run();
      const SimulatedOutcome without = SimulatedModel("", 0, load).Run();
      std::printf(
          "%-10s %2d clients, %d instances: %9.1f/s p50 %8.3f ms batch %4.1f; without "
          "%9.1f/s p50 %8.3f ms batch %4.1f\n",
          curve.name, load.clients, instances, with.per_second, with.p50_ms, with.mean_batch,
          without.per_second, without.p50_ms, without.mean_batch);
      EXPECT_GE(with.per_second, curve.least * without.per_second) << curve.name;
      if (load.clients == 1) {
        EXPECT_LE(with.p50_ms, 1.02 * without.p50_ms) << curve.name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Clients, ClosedLoop, ::testing::Values(1, 2, 4, 16));

}  // namespace
}  // namespace nereid::schedule
