// SPDX-License-Identifier: Apache-2.0
#include "schedule/queue/request_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::schedule {
namespace {

using config::QueuePolicy;
using ::testing::ElementsAre;

constexpr uint64_t kUs = 1'000;

/// Requests are known by their ids; what is dropped here was never bound, so nobody is answered.
class RequestQueueTest : public ::testing::Test {
 protected:
  struct Asked {
    uint64_t priority = 0;
    uint64_t timeout_us = 0;
    uint64_t deadline_ns = 0;
  };
  base::Status Push(const std::string& id, uint64_t now_ns, Asked asked = {0, 0, 0}) {
    auto request = std::make_unique<request::InferenceRequest>();
    request->id = id;
    request->priority = asked.priority;
    request->timeout_us = asked.timeout_us;
    request->deadline_ns = asked.deadline_ns;
    cancellations_[id] = request->cancellation();
    return queue().Push(request, now_ns);
  }
  RequestQueue& queue() {
    if (!queue_) queue_ = std::make_unique<RequestQueue>(options_);
    return *queue_;
  }
  std::vector<std::string> Order() {
    std::vector<std::string> ids;
    for (auto* waiting = queue().First(); waiting != nullptr; waiting = queue().After(*waiting)) {
      ids.push_back(waiting->request->id);
    }
    return ids;
  }
  std::vector<std::string> Expire(uint64_t now_ns) {
    refused_.clear();
    queue().Expire(now_ns, &refused_);
    return RefusedIds();
  }
  std::vector<std::string> RefusedIds() const {
    std::vector<std::string> ids;
    for (const Refusal& refusal : refused_) ids.push_back(refusal.request->id);
    return ids;
  }

  config::DynamicBatchingOptions options_;
  std::unique_ptr<RequestQueue> queue_;
  std::vector<Refusal> refused_;
  std::map<std::string, std::shared_ptr<request::Cancellation>> cancellations_;
};

TEST_F(RequestQueueTest, LevelsAreStrictAndUnknownOnesAreTheDefault) {
  options_.priority_levels = 3;
  options_.default_priority_level = 2;
  for (const auto& [id, priority] : std::vector<std::pair<std::string, uint64_t>>{
           {"d", 2}, {"h", 1}, {"b", 2}, {"e", 0}, {"f", 9}, {"g", UINT64_MAX}, {"c", 3}}) {
    ASSERT_TRUE(Push(id, 0, {priority}).ok());
  }
  EXPECT_THAT(Order(), ElementsAre("h", "d", "b", "e", "f", "g", "c"));
}

TEST_F(RequestQueueTest, WithoutLevelsPriorityMeansNothing) {
  ASSERT_TRUE(Push("a", 0, {5}).ok());
  ASSERT_TRUE(Push("b", 0, {1}).ok());
  EXPECT_THAT(Order(), ElementsAre("a", "b"));
}

TEST_F(RequestQueueTest, AnyNumberOfLevelsMayBeConfigured) {
  options_.priority_levels = UINT64_MAX;
  options_.default_priority_level = 7;
  for (uint64_t level = 1000; level > 0; --level) {
    ASSERT_TRUE(Push(std::to_string(level), 0, {level << 40}).ok());
    ASSERT_EQ(Order(), std::vector<std::string>{std::to_string(level)});
    queue().Take(*queue().First());
  }
  EXPECT_EQ(queue().First(), nullptr);
}

TEST_F(RequestQueueTest, TheSizeIsExactAndPerLevel) {
  options_.priority_levels = 2;
  options_.default_priority_level = 2;
  options_.default_queue_policy.max_queue_size = 2;
  options_.default_queue_policy.timeout_action = QueuePolicy::TimeoutAction::kDelay;
  options_.default_queue_policy.default_timeout_us = 10;
  options_.priority_queue_policies[1].max_queue_size = 1;
  ASSERT_TRUE(Push("a", 0).ok());
  Expire(10 * kUs);  // delayed requests count
  ASSERT_TRUE(Push("b", 10 * kUs).ok());
  const base::Status full = Push("c", 10 * kUs);
  EXPECT_EQ(full.code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(full.message(), "[request id: c] Exceeds maximum queue size");
  EXPECT_TRUE(Push("h", 10 * kUs, {1}).ok());
  EXPECT_FALSE(Push("i", 10 * kUs, {1}).ok());
  EXPECT_THAT(Order(), ElementsAre("h", "b", "a"));
  queue().Take(*queue().First());
  EXPECT_TRUE(Push("i", 10 * kUs, {1}).ok());
}

TEST_F(RequestQueueTest, RejectedAtTheTimeout) {
  options_.default_queue_policy.default_timeout_us = 100;
  ASSERT_TRUE(Push("a", 0).ok());
  ASSERT_TRUE(Push("b", 5 * kUs).ok());
  EXPECT_EQ(queue().NextExpiry(), 100 * kUs);
  EXPECT_THAT(Expire(100 * kUs - 1), ElementsAre());
  EXPECT_THAT(Expire(100 * kUs), ElementsAre("a"));
  EXPECT_EQ(refused_[0].error.code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(refused_[0].error.message(), "Request timeout expired");
  EXPECT_EQ(refused_[0].reason, telemetry::FailureReason::kRejected);
  EXPECT_EQ(queue().NextExpiry(), 105 * kUs);
  EXPECT_EQ(queue().size(), 1u);
}

TEST_F(RequestQueueTest, DelayedBehindTheOthersForEver) {
  options_.priority_levels = 2;
  options_.default_priority_level = 1;
  options_.default_queue_policy.timeout_action = QueuePolicy::TimeoutAction::kDelay;
  options_.default_queue_policy.default_timeout_us = 100;
  ASSERT_TRUE(Push("low", 0, {2}).ok());
  ASSERT_TRUE(Push("a", 0).ok());
  ASSERT_TRUE(Push("b", 50 * kUs).ok());
  EXPECT_THAT(Expire(100 * kUs), ElementsAre());
  ASSERT_TRUE(Push("c", 110 * kUs).ok());
  EXPECT_THAT(Order(), ElementsAre("b", "c", "a", "low"));
  EXPECT_THAT(Expire(1000 * kUs), ElementsAre());
  EXPECT_THAT(Order(), ElementsAre("a", "b", "c", "low"));
  EXPECT_EQ(queue().NextExpiry(), kNever);
}

TEST_F(RequestQueueTest, ARequestMayOnlyShortenATimeoutThatThereIs) {
  options_.default_queue_policy.default_timeout_us = 100;
  ASSERT_TRUE(Push("ignored", 0, {0, 10}).ok());
  EXPECT_EQ(queue().NextExpiry(), 100 * kUs);
  options_.default_queue_policy.allow_timeout_override = true;
  queue_.reset();
  ASSERT_TRUE(Push("longer", 0, {0, 1000}).ok());
  EXPECT_EQ(queue().NextExpiry(), 100 * kUs);
  ASSERT_TRUE(Push("shorter", 0, {0, 10}).ok());
  EXPECT_EQ(queue().NextExpiry(), 10 * kUs);
  options_.default_queue_policy.default_timeout_us = 0;
  queue_.reset();
  ASSERT_TRUE(Push("no default", 0, {0, 10}).ok());
  EXPECT_EQ(queue().NextExpiry(), kNever);
}

TEST_F(RequestQueueTest, AbsurdTimesDoNotWrap) {
  options_.default_queue_policy.default_timeout_us = UINT64_MAX;
  options_.default_queue_policy.allow_timeout_override = true;
  ASSERT_TRUE(Push("a", 5).ok());
  ASSERT_TRUE(Push("b", UINT64_MAX - 5, {0, UINT64_MAX - 1}).ok());
  EXPECT_EQ(queue().NextExpiry(), kNever);
  ASSERT_TRUE(Push("c", UINT64_MAX - 5, {0, 1}).ok());  // now + timeout exceeds 64 bits
  EXPECT_THAT(Expire(UINT64_MAX - 1), ElementsAre());
  EXPECT_EQ(queue().size(), 3u);
}

TEST_F(RequestQueueTest, TheClientsDeadlineEndsTheWaitUnderEveryPolicy) {
  options_.default_queue_policy.timeout_action = QueuePolicy::TimeoutAction::kDelay;
  options_.default_queue_policy.default_timeout_us = 100;
  ASSERT_TRUE(Push("a", 0, {0, 0, 300 * kUs}).ok());
  ASSERT_TRUE(Push("b", 0).ok());
  EXPECT_THAT(Expire(200 * kUs), ElementsAre());
  EXPECT_THAT(Expire(300 * kUs), ElementsAre("a"));
  EXPECT_EQ(refused_[0].error.message(),
            "[request id: a] Request deadline expired before an instance was free");
  EXPECT_EQ(refused_[0].reason, telemetry::FailureReason::kCanceled);
  RequestQueue plain;
  auto request = std::make_unique<request::InferenceRequest>();
  request->deadline_ns = 10;
  ASSERT_TRUE(plain.Push(request, 20).ok());
  EXPECT_EQ(plain.NextExpiry(), 10u);
}

TEST_F(RequestQueueTest, CancelledOnesLeave) {
  options_.default_queue_policy.default_timeout_us = 100;
  for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(Push(id, 0).ok());
  cancellations_["a"]->Cancel();
  cancellations_["c"]->Cancel();
  queue().DropCancelled(&refused_);
  EXPECT_THAT(RefusedIds(), ElementsAre("a", "c"));
  EXPECT_EQ(refused_[0].error.code(), base::StatusCode::kCancelled);
  EXPECT_EQ(refused_[0].reason, telemetry::FailureReason::kCanceled);
  queue().DropCancelled(&refused_);
  EXPECT_THAT(RefusedIds(), ElementsAre("a", "c")) << "none twice";
  EXPECT_THAT(Expire(100 * kUs), ElementsAre("b"));
  EXPECT_EQ(queue().NextExpiry(), kNever);
}

}  // namespace
}  // namespace nereid::schedule
