// SPDX-License-Identifier: Apache-2.0
#include "schedule/dynamic/dynamic_planner.h"

#include <gtest/gtest.h>

#include "request/testing/make_model.h"

namespace nereid::schedule {
namespace {

constexpr uint64_t kMs = 1'000'000;

class DynamicPlannerTest : public ::testing::Test {
 protected:
  void Use(const std::string& batching, const std::string& more = "") {
    model_ = request::MakeModel("name: \"m\" max_batch_size: 8 dynamic_batching { " + batching +
                                " } input { name: \"V\" data_type: TYPE_INT8 dims: [ -1 ] " + more +
                                " }");
    planner_ = std::make_unique<DynamicPlanner>(*model_->config);
  }
  void Push(uint32_t batch_size, uint64_t now, int64_t columns = 1) {
    auto request = std::make_unique<request::InferenceRequest>();
    request->batch_size = batch_size;
    ASSERT_TRUE(
        request->AddInput("V", tensor::DataType::kInt8, {int64_t{batch_size}, columns}).ok());
    ASSERT_TRUE(planner_->Push(request, now).ok());
  }
  /// The number of requests in the next batch; 0 for none, with the wake-up in wake_.
  size_t Next(uint64_t now) {
    Decision decision = planner_->Next(now);
    wake_ = decision.wake_ns;
    if (!decision.batch) return 0;
    reason_ = decision.batch->reason;
    return decision.batch->requests.size();
  }
  std::vector<size_t> All(uint64_t now) {
    std::vector<size_t> sizes;
    while (const size_t size = Next(now)) sizes.push_back(size);
    return sizes;
  }

  std::shared_ptr<const request::ModelIdentity> model_;
  std::unique_ptr<DynamicPlanner> planner_;
  uint64_t wake_ = 0;
  BatchReason reason_ = BatchReason::kSingle;
};

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
