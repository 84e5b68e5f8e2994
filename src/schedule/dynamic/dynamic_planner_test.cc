// SPDX-License-Identifier: Apache-2.0
#include "schedule/dynamic/dynamic_planner.h"

#include <gtest/gtest.h>

#include "request/testing/make_model.h"
#include "schedule/direct/direct_planner.h"

namespace nereid::schedule {
namespace {

constexpr uint64_t kMs = 1'000'000;

class DynamicPlannerTest : public ::testing::Test {
 protected:
  void Use(const std::string& batching, const std::string& more = "",
           const std::string& rest = "") {
    model_ = request::MakeModel("name: \"m\" max_batch_size: 8 dynamic_batching { " + batching +
                                " } input { name: \"V\" data_type: TYPE_INT8 dims: [ -1 ] " + more +
                                " } " + rest);
    planner_ = std::make_unique<DynamicPlanner>(*model_->config);
  }
  void Push(uint32_t batch_size, uint64_t now, int64_t columns = 1, uint64_t priority = 0) {
    auto request = std::make_unique<request::InferenceRequest>();
    request->batch_size = batch_size;
    request->priority = priority;
    request->times.queue_ns = now;
    last_cancellation_ = request->cancellation();
    ASSERT_TRUE(
        request->AddInput("V", tensor::DataType::kInt8, {int64_t{batch_size}, columns}).ok());
    ASSERT_TRUE(planner_->Push(request, now).ok());
  }
  /// The number of requests in the next batch; 0 for none, with the wake-up in wake_.
  size_t Next(uint64_t now) {
    std::vector<Refusal> refused;
    Decision decision = planner_->Next(now, 0, &refused);
    wake_ = decision.wake_ns;
    refused_ = refused.size();
    if (!decision.batch) return 0;
    batch_ = std::move(*decision.batch);
    reason_ = batch_.reason;
    return batch_.requests.size();
  }
  std::vector<size_t> All(uint64_t now) {
    std::vector<size_t> sizes;
    while (const size_t size = Next(now)) sizes.push_back(size);
    return sizes;
  }

  std::shared_ptr<const request::ModelIdentity> model_;
  std::unique_ptr<DynamicPlanner> planner_;
  uint64_t wake_ = 0;
  size_t refused_ = 0;
  Batch batch_;
  std::shared_ptr<request::Cancellation> last_cancellation_;
  BatchReason reason_ = BatchReason::kSingle;
};

TEST_F(DynamicPlannerTest, ALoneRequestWaitsByDefault) {
  Use("max_queue_delay_microseconds: 1000");
  for (uint64_t now = 0; now < 20 * kMs; now += 2 * kMs) {
    Push(1, now);
    EXPECT_EQ(Next(now), 0u);
    EXPECT_EQ(Next(now + kMs), 1u);
    EXPECT_EQ(reason_, BatchReason::kDelayExpired);
  }
}

TEST_F(DynamicPlannerTest, ALoneRequestGoesAtOnceWhereNobodyJoins) {
  Use("max_queue_delay_microseconds: 1000", "",
      "parameters { key: \"no_waiting_alone\" value { string_value: \"true\" } }");
  uint64_t now = 0;
  int waited = 0;
  for (int i = 0; i < 1000; ++i, now += 2 * kMs) {
    Push(1, now);
    if (Next(now) == 1) {
      EXPECT_EQ(reason_, BatchReason::kAlone);
      continue;
    }
    ++waited;
    EXPECT_EQ(planner_->ReadyAt(now, 0), now + kMs);
    EXPECT_EQ(Next(now + kMs), 1u);
  }
  EXPECT_EQ(waited, 14) << "1 + 2 + 4 + ... requests between the waits, then 128";
  // A second client appears: the next wait finds it, and then every request waits.
  while (true) {
    Push(1, now);
    if (Next(now) == 0) break;
  }
  Push(1, now);
  EXPECT_EQ(Next(now + kMs), 2u);
  for (int i = 0; i < 5; ++i) {
    now += 2 * kMs;
    Push(1, now);
    EXPECT_EQ(Next(now), 0u);
    Push(1, now);
    EXPECT_EQ(Next(now + kMs), 2u);
  }
}

TEST_F(DynamicPlannerTest, ARequestWithOthersInTheQueueIsNotAlone) {
  Use("max_queue_delay_microseconds: 1000", "",
      "parameters { key: \"no_waiting_alone\" value { string_value: \"true\" } }");
  Push(1, 0);
  EXPECT_EQ(Next(kMs), 1u);
  Push(1, 2 * kMs);
  Push(1, 2 * kMs);
  EXPECT_EQ(Next(2 * kMs), 0u);
}

/// Lets at most `most` requests into a batch, and counts what it is asked.
class AtMost final : public BatchStrategy {
 public:
  explicit AtMost(int most) : most_(most) {}
  void Begin() noexcept override {
    ++batches;
    included_ = 0;
  }
  bool Includes(request::InferenceRequest&) noexcept override { return ++included_ <= most_; }

  int batches = 0;

 private:
  const int most_;
  int included_ = 0;
};

TEST_F(DynamicPlannerTest, AStrategyClosesBatches) {
  Use("max_queue_delay_microseconds: 1000000");
  const auto strategy = std::make_shared<AtMost>(2);
  planner_->SetStrategy(strategy);
  Push(1, 0);
  Push(1, 0);
  EXPECT_EQ(Next(kMs), 0u) << "the next one might join";
  EXPECT_EQ(wake_, 1000 * kMs);
  Push(1, kMs);
  EXPECT_EQ(Next(2 * kMs), 2u);
  EXPECT_EQ(reason_, BatchReason::kStrategy);
  EXPECT_EQ(Next(2 * kMs), 0u) << "the third waits for company";
  EXPECT_EQ(Next(1001 * kMs), 1u);
  EXPECT_EQ(reason_, BatchReason::kDelayExpired);
  EXPECT_EQ(strategy->batches, 2);
}

TEST_F(DynamicPlannerTest, AStrategyCannotKeepTheFirstRequest) {
  Use("");
  planner_->SetStrategy(std::make_shared<AtMost>(0));
  for (int i = 0; i < 3; ++i) Push(1, 0);
  EXPECT_EQ(All(0), (std::vector<size_t>{1, 1, 1}));
}

TEST_F(DynamicPlannerTest, WithoutDelayEverythingGoes) {
  Use("");
  for (int i = 0; i < 3; ++i) Push(1, 0);
  EXPECT_EQ(Next(0), 3u);
  EXPECT_EQ(reason_, BatchReason::kNoDelay);
  for (int i = 0; i < 9; ++i) Push(1, 0);
  EXPECT_EQ(All(0), (std::vector<size_t>{8, 1}));
}

TEST_F(DynamicPlannerTest, TheLargestPreferredPrefixWins) {
  Use("preferred_batch_size: [ 4 ]");
  for (int i = 0; i < 11; ++i) Push(1, 0);
  EXPECT_EQ(All(0), (std::vector<size_t>{4, 4, 3}));
  Use("preferred_batch_size: [ 2, 4 ]");
  for (int i = 0; i < 7; ++i) Push(1, 0);
  EXPECT_EQ(All(0), (std::vector<size_t>{4, 2, 1}));
}

TEST_F(DynamicPlannerTest, TheBatchDimensionCountsAndIsNotSplit) {
  Use("");
  Push(5, 0);
  Push(5, 0);
  EXPECT_EQ(Next(0), 1u);
  EXPECT_EQ(reason_, BatchReason::kFull);
  EXPECT_EQ(Next(0), 1u);
}

TEST_F(DynamicPlannerTest, ASizeThatJumpsOverThePreferredOneStaysBehind) {
  Use("preferred_batch_size: [ 4 ]");
  Push(3, 0);
  Push(3, 0);
  EXPECT_EQ(All(0), (std::vector<size_t>{1, 1}));
}

TEST_F(DynamicPlannerTest, OneRequestWaitsForTheDelay) {
  Use("max_queue_delay_microseconds: 500000");
  Push(1, 10 * kMs);
  EXPECT_EQ(Next(10 * kMs), 0u);
  EXPECT_EQ(wake_, 510 * kMs);
  EXPECT_EQ(Next(509 * kMs), 0u);
  EXPECT_EQ(wake_, 510 * kMs);
  EXPECT_EQ(Next(510 * kMs), 1u);
  EXPECT_EQ(reason_, BatchReason::kDelayExpired);
}

TEST_F(DynamicPlannerTest, APreferredSizeEndsTheWait) {
  Use("preferred_batch_size: [ 2 ] max_queue_delay_microseconds: 500000");
  Push(1, 0);
  EXPECT_EQ(Next(0), 0u);
  Push(1, 5 * kMs);
  EXPECT_EQ(Next(5 * kMs), 2u);
  EXPECT_EQ(reason_, BatchReason::kPreferred);
}

TEST_F(DynamicPlannerTest, OverflowSendsTheFirstAndTheRestWaitsItsOwnDelay) {
  Use("max_queue_delay_microseconds: 500000");
  Push(5, 0);
  Push(5, 20 * kMs);
  EXPECT_EQ(Next(20 * kMs), 1u);
  EXPECT_EQ(Next(20 * kMs), 0u);
  EXPECT_EQ(wake_, 520 * kMs);
}

TEST_F(DynamicPlannerTest, AFullBatchDoesNotWait) {
  Use("max_queue_delay_microseconds: 500000");
  for (int i = 0; i < 8; ++i) Push(1, 0);
  EXPECT_EQ(Next(0), 8u);
}

TEST_F(DynamicPlannerTest, OtherShapesCloseABatchAtOnce) {
  Use("max_queue_delay_microseconds: 500000");
  Push(1, 0, 3);
  Push(1, 0, 3);
  Push(1, 0, 4);
  EXPECT_EQ(Next(0), 2u);
  EXPECT_EQ(reason_, BatchReason::kShape);
  EXPECT_EQ(Next(0), 0u);
  EXPECT_EQ(Next(500 * kMs), 1u);
}

TEST_F(DynamicPlannerTest, RaggedInputsShareABatch) {
  Use("", "allow_ragged_batch: true");
  Push(1, 0, 3);
  Push(1, 0, 4);
  EXPECT_EQ(Next(0), 2u);
}

TEST_F(DynamicPlannerTest, AnExpiredDelayTakesEverythingNotOnlyThePreferred) {
  Use("preferred_batch_size: [ 4 ] max_queue_delay_microseconds: 1000");
  for (int i = 0; i < 6; ++i) Push(1, 0);
  EXPECT_EQ(Next(2 * kMs), 6u);
}

TEST_F(DynamicPlannerTest, AnAbsurdDelayDoesNotWrap) {
  Use("max_queue_delay_microseconds: 18446744073709551615");
  Push(1, 5);
  EXPECT_EQ(Next(10), 0u);
  EXPECT_EQ(wake_, UINT64_MAX);
}

TEST_F(DynamicPlannerTest, LevelsShareABatchInTheirOrder) {
  Use("priority_levels: 2 default_priority_level: 2 max_queue_delay_microseconds: 500000");
  Push(1, 0);
  EXPECT_EQ(Next(0), 0u);
  Push(2, 10 * kMs, 1, /*priority=*/1);
  EXPECT_EQ(Next(10 * kMs), 0u);
  EXPECT_EQ(wake_, 500 * kMs);  // of the oldest, which is not the first
  EXPECT_EQ(Next(500 * kMs), 2u);
  EXPECT_EQ(batch_.requests[0]->batch_size, 2u);
  EXPECT_EQ(batch_.batch_size, 3u);
  EXPECT_EQ(batch_.oldest_arrival_ns, 0u);
}

TEST_F(DynamicPlannerTest, AHigherLevelIsSeenByABatchThatIsForming) {
  Use("priority_levels: 2 default_priority_level: 2 max_queue_delay_microseconds: 500000");
  Push(5, 0);
  EXPECT_EQ(Next(0), 0u);
  Push(4, 0, 1, /*priority=*/1);
  EXPECT_EQ(Next(0), 1u);
  EXPECT_EQ(batch_.batch_size, 4u);
  EXPECT_EQ(reason_, BatchReason::kFull);
}

TEST_F(DynamicPlannerTest, ATimeoutWithinTheDelayIsKept) {
  Use("max_queue_delay_microseconds: 500000 "
      "default_queue_policy { default_timeout_microseconds: 100000 }");
  Push(1, 0);
  EXPECT_EQ(Next(0), 0u);
  EXPECT_EQ(wake_, 500 * kMs);
  EXPECT_EQ(planner_->NextExpiry(), 100 * kMs);
  EXPECT_EQ(Next(100 * kMs - 1), 0u);
  EXPECT_EQ(Next(100 * kMs), 0u);
  EXPECT_EQ(refused_, 1u);
  EXPECT_EQ(wake_, kNever);
}

TEST_F(DynamicPlannerTest, ABatchGoesBeforeADeadlineOfAClient) {
  Use("max_queue_delay_microseconds: 500000");
  auto request = std::make_unique<request::InferenceRequest>();
  request->batch_size = 1;
  request->deadline_ns = 100 * kMs;
  ASSERT_TRUE(planner_->Push(request, 0).ok());
  EXPECT_EQ(Next(0), 0u);
  EXPECT_EQ(wake_, 99 * kMs);
  EXPECT_EQ(Next(99 * kMs), 1u);
  EXPECT_EQ(reason_, BatchReason::kDeadline);
}

TEST_F(DynamicPlannerTest, WithTheParameterABatchGoesBeforeOneOfItsRequestsTimesOut) {
  Use("max_queue_delay_microseconds: 500000 "
      "default_queue_policy { default_timeout_microseconds: 100000 }",
      "", "parameters { key: \"batch_before_timeout\" value { string_value: \"true\" } }");
  Push(1, 0);
  EXPECT_EQ(Next(0), 0u);
  EXPECT_EQ(wake_, 99 * kMs);
  EXPECT_EQ(Next(99 * kMs), 1u);
  EXPECT_EQ(reason_, BatchReason::kDeadline);
  Push(1, 0);
  EXPECT_EQ(Next(100 * kMs), 0u);  // too late: refused, not run
  EXPECT_EQ(refused_, 1u);
  EXPECT_EQ(wake_, kNever);
}

TEST_F(DynamicPlannerTest, TheParameterIsTrueOrFalse) {
  Use("", "", "parameters { key: \"batch_before_timeout\" value { string_value: \"yes\" } }");
  EXPECT_EQ(DynamicPlanner::CheckParameters(*model_->config).message(),
            "model 'm': parameter 'batch_before_timeout' must be 'true' or 'false', got 'yes'");
}

TEST_F(DynamicPlannerTest, NothingIsGivenBeforeTheGateOpens) {
  Use("preferred_batch_size: [ 2 ] default_queue_policy { default_timeout_microseconds: 900000 }");
  planner_->SetStartConditions({3, 0});
  Push(1, 0);
  Push(1, 0);
  EXPECT_EQ(Next(0), 0u);
  EXPECT_EQ(wake_, kNever);
  EXPECT_EQ(planner_->ReadyAt(0, 0), kNever);
  Push(1, 50 * kMs);
  EXPECT_EQ(planner_->ReadyAt(50 * kMs, 0), 60 * kMs);
  EXPECT_EQ(Next(55 * kMs), 0u);
  EXPECT_EQ(wake_, 60 * kMs);
  EXPECT_EQ(All(60 * kMs), (std::vector<size_t>{2, 1}));
  Push(1, 70 * kMs);
  EXPECT_EQ(Next(70 * kMs), 1u) << "it stays open";
}

TEST_F(DynamicPlannerTest, TimeoutsAreKeptWhileTheGateIsClosed) {
  Use("default_queue_policy { default_timeout_microseconds: 100000 }");
  planner_->SetStartConditions({3, 0});
  Push(1, 0);
  EXPECT_EQ(Next(100 * kMs), 0u);
  EXPECT_EQ(refused_, 1u);
}

TEST_F(DynamicPlannerTest, DrainingOpensTheGate) {
  Use("");
  planner_->SetStartConditions({3, 0});
  Push(1, 0);
  planner_->Drain(0);
  EXPECT_EQ(Next(0), 1u);
}

TEST_F(DynamicPlannerTest, ATimeoutThatOnlyDelaysHurriesNobody) {
  Use("max_queue_delay_microseconds: 500000 default_queue_policy { "
      "default_timeout_microseconds: 100000 timeout_action: DELAY }");
  Push(1, 0);
  EXPECT_EQ(Next(200 * kMs), 0u);
  EXPECT_EQ(wake_, 500 * kMs);
}

TEST_F(DynamicPlannerTest, CancelledRequestsAreNeverInABatch) {
  Use("preferred_batch_size: [ 2 ] max_queue_delay_microseconds: 500000");
  Push(1, 0);
  EXPECT_EQ(Next(0), 0u);
  last_cancellation_->Cancel();
  Push(1, 0);
  EXPECT_EQ(Next(0), 0u);  // one is left, which is no preferred size
  EXPECT_EQ(refused_, 1u);
  Push(1, 0);
  EXPECT_EQ(Next(0), 2u);
  EXPECT_EQ(refused_, 0u);
}

TEST_F(DynamicPlannerTest, ThousandsOfRequestsAreDrainedInTheirOrder) {
  Use("max_queue_delay_microseconds: 500000 "
      "default_queue_policy { default_timeout_microseconds: 100000 }");
  for (uint64_t i = 0; i < 20'000; ++i) Push(1, i);
  uint64_t next = 0;
  while (Next(20'000) > 0) {
    for (const RequestPtr& request : batch_.requests) EXPECT_EQ(request->times.queue_ns, next++);
    EXPECT_EQ(batch_.left_in_queue, 20'000 - next);
  }
  EXPECT_EQ(next, 20'000u);
}

TEST(DirectPlannerTest, NeitherCancelledNorLateRequestsRun) {
  DirectPlanner planner;
  const auto push = [&](uint64_t deadline_ns) {
    auto request = std::make_unique<request::InferenceRequest>();
    request->deadline_ns = deadline_ns;
    auto cancellation = request->cancellation();
    EXPECT_TRUE(planner.Push(request, 0).ok());
    return cancellation;
  };
  push(10);
  push(0)->Cancel();
  push(30);
  EXPECT_EQ(planner.NextExpiry(), 10u);
  std::vector<Refusal> refused;
  const Decision decision = planner.Next(20, 0, &refused);
  ASSERT_TRUE(decision.batch);
  EXPECT_EQ(decision.batch->requests[0]->deadline_ns, 30u);
  EXPECT_EQ(decision.batch->requests.size(), 1u);
  ASSERT_EQ(refused.size(), 2u);
  EXPECT_EQ(refused[0].reason, telemetry::FailureReason::kCanceled);
  EXPECT_EQ(refused[1].reason, telemetry::FailureReason::kCanceled);
  EXPECT_EQ(planner.size(), 0u);
}

TEST(BatchCompatibilityTest, OptionalInputsMustBeTheSame) {
  const auto model = request::MakeModel(
      R"(name: "m" max_batch_size: 4 dynamic_batching { }
         input { name: "A" data_type: TYPE_INT8 dims: [ 1 ] }
         input { name: "B" data_type: TYPE_INT8 dims: [ 1 ] optional: true })");
  const BatchCompatibility compatibility(*model->config);
  request::InferenceRequest with, without;
  ASSERT_TRUE(with.AddInput("A", tensor::DataType::kInt8, {1, 1}).ok());
  ASSERT_TRUE(with.AddInput("B", tensor::DataType::kInt8, {1, 1}).ok());
  ASSERT_TRUE(without.AddInput("A", tensor::DataType::kInt8, {1, 1}).ok());
  EXPECT_FALSE(compatibility.MayShareBatch(with, without));
  EXPECT_TRUE(compatibility.MayShareBatch(with, with));
}

}  // namespace
}  // namespace nereid::schedule
