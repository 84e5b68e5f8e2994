// SPDX-License-Identifier: Apache-2.0
// A simulated server: one instance whose executions take a + b × size with some noise, requests
// that come at random at a given rate, the real planner, and a clock that jumps from event to
// event.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "request/testing/make_model.h"
#include "schedule/adaptive/latency_objective.h"
#include "schedule/dynamic/dynamic_planner.h"

namespace nereid::schedule {
namespace {

constexpr double kMs = 1'000'000;

struct Load {
  double per_second = 0;
  double fixed_ms = 2;       // a
  double per_item_ms = 0.1;  // b
  double seconds = 20;
  uint32_t seed = 1;
};

struct Outcome {
  double p50_ms = 0;
  double p99_ms = 0;
  double busy = 0;  // part of the time in which the instance runs
  double mean_batch = 0;
};

class Simulation {
 public:
  Simulation(const std::string& batching, uint64_t objective_us, const Load& load)
      : load_(load),
        random_(load.seed),
        model_(request::MakeModel("name: \"m\" max_batch_size: 64 dynamic_batching { " + batching +
                                  " }")) {
    if (objective_us > 0) limits_ = std::make_shared<LatencyObjective>(objective_us * 1000, 64);
    planner_ = std::make_unique<DynamicPlanner>(*model_->config, limits_);
  }

  Outcome Run() {
    const auto end_ns = static_cast<uint64_t>(load_.seconds * 1000 * kMs);
    uint64_t next_arrival = NextGap(), free_at = 0, wake = kNever;
    bool busy = false;
    for (uint64_t now = 0; now < end_ns;) {
      now = std::min({next_arrival, busy ? free_at : kNever, busy ? kNever : wake});
      if (now == next_arrival) {
        Push(now);
        next_arrival = now + NextGap();
      }
      if (busy && now == free_at) {
        if (limits_ != nullptr) {
          limits_->OnExecuted(running_.batch_size, started_ - running_.oldest_arrival_ns,
                              now - started_);
        }
        for (const RequestPtr& request : running_.requests) {
          if (now > end_ns / 10) latencies_.push_back(now - request->times.queue_ns);
        }
        busy = false;
      }
      if (!busy) {
        std::vector<Refusal> refused;
        Decision decision = planner_->Next(now, 0, &refused);
        wake = decision.wake_ns;
        if (decision.batch) {
          running_ = std::move(*decision.batch);
          started_ = now;
          free_at = now + ExecutionNs(running_.batch_size);
          busy = true;
          busy_ns_ += free_at - now;
          ++batches_;
          items_ += running_.batch_size;
        }
      }
    }
    return Summary(end_ns);
  }

 private:
  uint64_t NextGap() {
    return 1 + static_cast<uint64_t>(
                   std::exponential_distribution<double>(load_.per_second)(random_) * 1000 * kMs);
  }
  uint64_t ExecutionNs(uint64_t size) {
    const double ns = (load_.fixed_ms + load_.per_item_ms * static_cast<double>(size)) * kMs;
    return static_cast<uint64_t>(ns * std::uniform_real_distribution<double>(0.9, 1.1)(random_));
  }
  void Push(uint64_t now) {
    auto request = std::make_unique<request::InferenceRequest>();
    request->batch_size = 1;
    request->times.queue_ns = now;
    ASSERT_TRUE(planner_->Push(request, now).ok());
  }
  Outcome Summary(uint64_t end_ns) {
    std::sort(latencies_.begin(), latencies_.end());
    const auto at = [this](double q) {
      return static_cast<double>(
                 latencies_[static_cast<size_t>(q * static_cast<double>(latencies_.size() - 1))]) /
             kMs;
    };
    return {at(0.5), at(0.99), static_cast<double>(busy_ns_) / static_cast<double>(end_ns),
            static_cast<double>(items_) / static_cast<double>(batches_)};
  }

  const Load load_;
  std::mt19937 random_;
  std::shared_ptr<const request::ModelIdentity> model_;
  std::shared_ptr<LatencyObjective> limits_;
  std::unique_ptr<DynamicPlanner> planner_;
  Batch running_;
  uint64_t started_ = 0, busy_ns_ = 0, batches_ = 0, items_ = 0;
  std::vector<uint64_t> latencies_;
};

std::string Delay(int us) {
  return us == 0 ? "" : "max_queue_delay_microseconds: " + std::to_string(us);
}

void Print(const char* name, const Load& load, const Outcome& outcome) {
  std::printf("%5.0f/s %-16s p50 %6.2f ms, p99 %6.2f ms, busy %5.1f %%, mean batch %5.2f\n",
              load.per_second, name, outcome.p50_ms, outcome.p99_ms, 100 * outcome.busy,
              outcome.mean_batch);
}

class AdaptiveSimulation : public ::testing::TestWithParam<double> {};

// At every load the objective holds, for less work than batches that go at once.
TEST_P(AdaptiveSimulation, HoldsTheObjectiveAndSavesWork) {
  Load load;
  load.per_second = GetParam();
  const Outcome adaptive = Simulation("", 20'000, load).Run();
  const Outcome greedy = Simulation("", 0, load).Run();
  Print("objective 20 ms", load, adaptive);
  Print("delay 0", load, greedy);
  for (const int us : {1000, 5000, 15'000}) {
    Print(("delay " + std::to_string(us) + " us").c_str(), load,
          Simulation(Delay(us), 0, load).Run());
  }
  EXPECT_LE(adaptive.p99_ms, 20.0);
  EXPECT_LT(adaptive.busy, greedy.busy);
}

INSTANTIATE_TEST_SUITE_P(Loads, AdaptiveSimulation,
                         ::testing::Values(100.0, 500.0, 1000.0, 2000.0, 4000.0));

// Half of the work is saved as soon as requests come closer together than executions take.
TEST(AdaptiveSimulationGain, HalvesTheWorkOfBatchesThatGoAtOnce) {
  Load load;
  load.per_second = 1000;
  const Outcome adaptive = Simulation("", 20'000, load).Run();
  const Outcome greedy = Simulation("", 0, load).Run();
  EXPECT_LT(adaptive.busy, 0.5 * greedy.busy);
  EXPECT_GT(adaptive.mean_batch, 4 * greedy.mean_batch);
}

// A delay that saves as much misses the objective when the load rises; the objective does not.
TEST(AdaptiveSimulationGain, NoFixedDelayServesAllLoads) {
  for (const double per_second : {500.0, 4000.0}) {
    Load load;
    load.per_second = per_second;
    const Outcome adaptive = Simulation("", 20'000, load).Run();
    const Outcome delayed = Simulation(Delay(15'000), 0, load).Run();
    EXPECT_LE(adaptive.p99_ms, 20.0);
    if (per_second < 1000) {
      EXPECT_LT(adaptive.busy, 1.1 * delayed.busy);
    } else {
      EXPECT_GT(delayed.p99_ms, 20.0);
    }
  }
}

// Beyond what the model can do, larger batches are all that helps.
TEST(AdaptiveSimulationOverload, AMissedObjectiveCostsNoThroughput) {
  Load load;
  load.per_second = 7000;  // 64 in 8.4 ms: 7,600 a second is all that it can do
  const Outcome adaptive = Simulation("", 10'000, load).Run();
  const Outcome greedy = Simulation("", 0, load).Run();
  Print("objective 10 ms", load, adaptive);
  Print("delay 0", load, greedy);
  EXPECT_LT(adaptive.p99_ms, 1.3 * greedy.p99_ms);
}

TEST(AdaptiveSimulationCheap, RareRequestsAreNotHeldBack) {
  Load load;
  load.per_second = 5;
  const Outcome adaptive = Simulation("", 20'000, load).Run();
  Print("objective 20 ms", load, adaptive);
  EXPECT_LT(adaptive.p50_ms, 3.0);
}

}  // namespace
}  // namespace nereid::schedule
