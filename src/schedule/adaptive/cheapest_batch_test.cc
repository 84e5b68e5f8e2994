// SPDX-License-Identifier: Apache-2.0
#include "schedule/adaptive/cheapest_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "request/testing/make_model.h"
#include "schedule/adaptive/testing/simulated_model.h"

namespace nereid::schedule {
namespace {

constexpr uint64_t kUs = 1000;

/// One instance with a queue that is never empty.
class Executor {
 public:
  Executor(uint64_t max_batch_size, CostCurve cost)
      : limits_(max_batch_size), cost_(std::move(cost)) {}

  /// Executes `count` batches, as large as the limit and the queue allow.
  void Run(int count, uint64_t waiting = 1000) {
    for (int i = 0; i < count; ++i) Execute(std::min(limits_.SizeLimit(0, now_ns_), waiting));
  }
  /// Executes a batch whose oldest request has waited for `wait_part` of its duration.
  void Execute(uint64_t size, double wait_part = 1) {
    const auto ns = static_cast<uint64_t>(cost_.Ms(size) * 1000 * kUs);
    limits_.OnTaken({size, now_ns_, now_ns_}, now_ns_);
    now_ns_ += ns;
    limits_.OnExecuted(size, static_cast<uint64_t>(static_cast<double>(ns) * wait_part), ns,
                       now_ns_);
    sizes_.push_back(size);
  }
  uint64_t limit() const { return limits_.size_limit(); }
  /// Returns the sizes of the batches since the last call.
  std::vector<uint64_t> TakeSizes() { return std::move(sizes_); }

 private:
  CheapestBatch limits_;
  CostCurve cost_;
  uint64_t now_ns_ = 0;
  std::vector<uint64_t> sizes_;
};

const CostCurve kCheaperAlone({{1, 17}, {2, 40}, {4, 100}});
const CostCurve kCheaperTogether({{1, 10}, {2, 11}, {4, 13}});

TEST(CheapestBatch, TriesEachClassOfSizesFromTheLargest) {
  Executor executor(8, kCheaperTogether);
  executor.Run(4 * CheapestBatch::kSamples);
  std::vector<uint64_t> expected;
  for (const uint64_t size : {8, 7, 3, 1}) {
    expected.insert(expected.end(), CheapestBatch::kSamples, size);
  }
  EXPECT_EQ(executor.TakeSizes(), expected);
}

TEST(CheapestBatch, LimitsBatchesThatCostMore) {
  Executor executor(4, kCheaperAlone);
  EXPECT_EQ(executor.limit(), 4u);
  executor.Run(3 * CheapestBatch::kSamples);
  EXPECT_EQ(executor.limit(), 1u);
}

TEST(CheapestBatch, SetsNoLimitIfTheLargestBatchesCostTheLeast) {
  Executor executor(4, kCheaperTogether);
  executor.Run(3 * CheapestBatch::kSamples);
  EXPECT_EQ(executor.limit(), 4u);
  // The queue never held more than 2, so nothing is known of larger batches.
  Executor small(16, kCheaperTogether);
  small.Run(3 * CheapestBatch::kSamples, 2);
  EXPECT_EQ(small.limit(), 16u);
}

TEST(CheapestBatch, FindsAMiddleSize) {
  Executor executor(16, CostCurve({{1, 10}, {2, 12}, {3, 18}, {4, 40}, {16, 160}}));
  executor.Run(5 * CheapestBatch::kSamples);
  EXPECT_EQ(executor.limit(), 3u);
}

TEST(CheapestBatch, PrefersTheSmallerOfEqualCosts) {
  Executor executor(4, CostCurve({{1, 10}, {2, 20}, {4, 40}}));
  executor.Run(3 * CheapestBatch::kSamples);
  EXPECT_EQ(executor.limit(), 1u);
}

TEST(CheapestBatch, DoesNotLearnFromExecutionsWithoutACrowd) {
  Executor executor(4, kCheaperAlone);
  for (int i = 0; i < 100; ++i) executor.Execute(1, 0.1);
  EXPECT_EQ(executor.limit(), 4u);
}

TEST(CheapestBatch, SlowExecutionsAreOutvoted) {
  CheapestBatch limits(2);
  uint64_t now_ns = 0;
  for (uint32_t i = 0; i < 2 * CheapestBatch::kSamples; ++i) {
    const uint64_t size = limits.SizeLimit(0, now_ns);
    // Two of five executions of each size take ten times as long.
    const uint64_t ns = size * 100 * kUs * (size == 2 ? 2 : 1) * (i % 5 < 2 ? 10 : 1);
    limits.OnTaken({size, now_ns, now_ns}, now_ns);
    now_ns += ns;
    limits.OnExecuted(size, ns, ns, now_ns);
  }
  EXPECT_EQ(limits.size_limit(), 1u);
}

TEST(CheapestBatch, TrialsBecomeRare) {
  Executor executor(4, kCheaperAlone);
  executor.Run(100'000);
  const std::vector<uint64_t> sizes = executor.TakeSizes();
  const auto large = std::count_if(sizes.begin(), sizes.end(), [](uint64_t s) { return s > 1; });
  EXPECT_LT(large, 800);
  EXPECT_GT(large, 100);  // but do not end
}

TEST(CheapestBatch, RequestsThatAreLargerThanTheLimitEndATrial) {
  Executor executor(64, CostCurve({{1, 10}, {2, 20}, {64, 640}}));
  for (const uint64_t size : {40, 3, 9, 17, 2}) {
    for (int i = 0; i < 20; ++i) executor.Execute(size);
  }
  EXPECT_LT(executor.limit(), 64u);
}

TEST(CheapestBatch, ModelsOfBatchesOfOneHaveNothingToLearn) {
  Executor executor(1, kCheaperAlone);
  executor.Run(100);
  EXPECT_EQ(executor.limit(), 1u);
}

// Clients that send a request after the answer to the one before, with the cost curves of real
// models (closed_loop_simulation_test.cc).
TEST(CheapestBatchSimulation, IsNeverMuchSlowerAndSometimesMuchFaster) {
  struct Curve {
    const char* name;
    CostCurve cost;
    double seconds;
    double least;  // of the throughput with 16 clients, as part of that without limits
  };
  const std::vector<Curve> curves = {
      {"text", CostCurve({{1, 16.6}, {2, 40}, {4, 99}, {8, 200}}), 60, 1.15},
      {"bert", CostCurve({{1, 205}, {2, 452}, {4, 925}, {8, 1860}}), 600, 1.05},
      {"resnet50", CostCurve({{1, 106}, {2, 187}, {4, 406}, {8, 787}}), 400, 0.97},
      {"network", CostCurve({{1, 0.0028}, {2, 0.0029}, {4, 0.0036}, {8, 0.0039}}), 0.6, 0.97},
      {"fixed cost", CostCurve(2, 0.1), 30, 0.97},
  };
  for (const Curve& curve : curves) {
    for (const int clients : {1, 2, 4, 16}) {
      SimulatedLoad load;
      load.clients = clients;
      load.cost = curve.cost;
      load.seconds = curve.seconds;
      load.instances = 2;
      load.unmeasured = 0.5;  // learning
      const auto limits = std::make_shared<CheapestBatch>(SimulatedModel::kMaxBatchSize);
      const SimulatedOutcome with = SimulatedModel("", limits, load).Run();
      const SimulatedOutcome without = SimulatedModel("", nullptr, load).Run();
      std::printf("%-10s %2d clients: %9.1f/s batch %4.1f; without %9.1f/s batch %4.1f\n",
                  curve.name, clients, with.per_second, with.mean_batch, without.per_second,
                  without.mean_batch);
      EXPECT_GE(with.per_second, (clients == 16 ? curve.least : 0.97) * without.per_second)
          << curve.name << ", " << clients << " clients";
    }
  }
}

base::Result<bool> Wants(const std::string& more, bool chosen_by_server = true) {
  return WantsCheapestBatch(*request::MakeModel("name: \"m\" max_batch_size: 8 " + more)->config,
                            chosen_by_server);
}

TEST(WantsCheapestBatch, FollowsTheParameterOrWhoChoseBatching) {
  const auto parameter = [](const std::string& value) {
    return " parameters { key: \"cheapest_batch_size\" value { string_value: \"" + value + "\" } }";
  };
  const std::string batching = "dynamic_batching { }";
  EXPECT_TRUE(Wants(batching).value());
  EXPECT_FALSE(Wants(batching, false).value());
  EXPECT_FALSE(Wants("").value());
  EXPECT_TRUE(Wants(batching + parameter("true"), false).value());
  EXPECT_FALSE(Wants(batching + parameter("false")).value());
  EXPECT_EQ(Wants(batching + parameter("yes")).status().message(),
            "model 'm': parameter 'cheapest_batch_size' is 'yes', but must be 'true' or 'false'");
  EXPECT_EQ(Wants(parameter("true")).status().message(),
            "model 'm': parameter 'cheapest_batch_size' needs dynamic_batching, which the model "
            "does not have");
}

}  // namespace
}  // namespace nereid::schedule
