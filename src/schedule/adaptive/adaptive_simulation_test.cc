// SPDX-License-Identifier: Apache-2.0
// A simulated server (testing/simulated_model.h) with requests that come at random at a given rate.
#include <gtest/gtest.h>

#include <cstdio>

#include "schedule/adaptive/testing/simulated_model.h"

namespace nereid::schedule {
namespace {

std::string Delay(int us) {
  return us == 0 ? "" : "max_queue_delay_microseconds: " + std::to_string(us);
}

void Print(const char* name, const SimulatedLoad& load, const SimulatedOutcome& outcome) {
  std::printf("%5.0f/s %-16s p50 %6.2f ms, p99 %6.2f ms, busy %5.1f %%, mean batch %5.2f\n",
              load.per_second, name, outcome.p50_ms, outcome.p99_ms, 100 * outcome.busy,
              outcome.mean_batch);
}

class AdaptiveSimulation : public ::testing::TestWithParam<double> {};

// At every load the objective holds, for less work than batches that go at once.
TEST_P(AdaptiveSimulation, HoldsTheObjectiveAndSavesWork) {
  SimulatedLoad load;
  load.per_second = GetParam();
  const SimulatedOutcome adaptive = SimulatedModel("", 20'000, load).Run();
  const SimulatedOutcome greedy = SimulatedModel("", 0, load).Run();
  Print("objective 20 ms", load, adaptive);
  Print("delay 0", load, greedy);
  for (const int us : {1000, 5000, 15'000}) {
    Print(("delay " + std::to_string(us) + " us").c_str(), load,
          SimulatedModel(Delay(us), 0, load).Run());
  }
  EXPECT_LE(adaptive.p99_ms, 20.0);
  EXPECT_LT(adaptive.busy, greedy.busy);
}

INSTANTIATE_TEST_SUITE_P(Loads, AdaptiveSimulation,
                         ::testing::Values(100.0, 500.0, 1000.0, 2000.0, 4000.0));

// Half of the work is saved as soon as requests come closer together than executions take.
TEST(AdaptiveSimulationGain, HalvesTheWorkOfBatchesThatGoAtOnce) {
  SimulatedLoad load;
  load.per_second = 1000;
  const SimulatedOutcome adaptive = SimulatedModel("", 20'000, load).Run();
  const SimulatedOutcome greedy = SimulatedModel("", 0, load).Run();
  EXPECT_LT(adaptive.busy, 0.5 * greedy.busy);
  EXPECT_GT(adaptive.mean_batch, 4 * greedy.mean_batch);
}

// A delay that saves as much misses the objective when the load rises; the objective does not.
TEST(AdaptiveSimulationGain, NoFixedDelayServesAllLoads) {
  for (const double per_second : {500.0, 4000.0}) {
    SimulatedLoad load;
    load.per_second = per_second;
    const SimulatedOutcome adaptive = SimulatedModel("", 20'000, load).Run();
    const SimulatedOutcome delayed = SimulatedModel(Delay(15'000), 0, load).Run();
    EXPECT_LE(adaptive.p99_ms, 20.0);
    if (per_second < 1000) {
      EXPECT_LT(adaptive.busy, 1.3 * delayed.busy);
    } else {
      EXPECT_GT(delayed.p99_ms, 20.0);
    }
  }
}

// Beyond what the model can do, larger batches are all that helps.
TEST(AdaptiveSimulationOverload, AMissedObjectiveCostsNoThroughput) {
  SimulatedLoad load;
  load.per_second = 7000;  // 64 in 8.4 ms: 7,600 a second is all that it can do
  const SimulatedOutcome adaptive = SimulatedModel("", 10'000, load).Run();
  const SimulatedOutcome greedy = SimulatedModel("", 0, load).Run();
  Print("objective 10 ms", load, adaptive);
  Print("delay 0", load, greedy);
  EXPECT_LT(adaptive.p99_ms, 1.3 * greedy.p99_ms);
}

TEST(AdaptiveSimulationCheap, RareRequestsAreNotHeldBack) {
  SimulatedLoad load;
  load.per_second = 5;
  const SimulatedOutcome adaptive = SimulatedModel("", 20'000, load).Run();
  Print("objective 20 ms", load, adaptive);
  EXPECT_LT(adaptive.p50_ms, 3.0);
}

}  // namespace
}  // namespace nereid::schedule
