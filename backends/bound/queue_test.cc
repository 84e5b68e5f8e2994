// SPDX-License-Identifier: Apache-2.0
#include "bound/queue.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace nereid::bound {
namespace {

constexpr uint32_t kAMinute = 60'000;

TRITONBACKEND_Request* FakeRequest(uintptr_t number) {
  return reinterpret_cast<TRITONBACKEND_Request*>(number);
}

class BoundQueueTest : public ::testing::Test {
 protected:
  const NEREID_BoundFunctions& api_ = *NEREID_BoundApi();
};

TEST_F(BoundQueueTest, ATokenHasOneQueue) {
  NEREID_BoundQueue* const queue = api_.open("a");
  ASSERT_NE(queue, nullptr);
  EXPECT_EQ(api_.open("a"), nullptr);
  EXPECT_NE(FindQueue("a"), nullptr);
  api_.close(queue);
  api_.free(queue);
  EXPECT_EQ(FindQueue("a"), nullptr);
}

TEST_F(BoundQueueTest, ABatchIsTakenAndFinished) {
  NEREID_BoundQueue* const queue = api_.open("b");
  const std::shared_ptr<Queue> found = FindQueue("b");
  const std::array<TRITONBACKEND_Request*, 2> requests = {FakeRequest(1), FakeRequest(2)};
  NEREID_BoundBatch batch;
  batch.requests = requests.data();
  batch.count = 2;
  std::thread instance([&] { EXPECT_TRUE(found->Execute(&batch)); });
  NEREID_BoundBatch* const taken = api_.take(queue, kAMinute);
  ASSERT_EQ(taken, &batch);
  EXPECT_EQ(api_.count(taken), 2U);
  EXPECT_EQ(api_.request(taken, 1), FakeRequest(2));
  EXPECT_EQ(api_.request(taken, 2), nullptr);
  const std::array<bool, 2> succeeded = {true, false};
  api_.finish(taken, succeeded.data());
  instance.join();
  EXPECT_EQ(batch.succeeded, (std::vector<bool>{true, false}));
  api_.close(queue);
  api_.free(queue);
}

TEST_F(BoundQueueTest, TakeReturnsWithoutABatch) {
  NEREID_BoundQueue* const queue = api_.open("c");
  EXPECT_EQ(api_.take(queue, 0), nullptr);
  api_.close(queue);
  api_.free(queue);
}

TEST_F(BoundQueueTest, AClosedQueueRefuses) {
  NEREID_BoundQueue* const queue = api_.open("d");
  const std::shared_ptr<Queue> found = FindQueue("d");
  NEREID_BoundBatch waiting;
  std::thread instance([&] { EXPECT_FALSE(found->Execute(&waiting)); });
  api_.close(queue);
  api_.free(queue);
  instance.join();
  NEREID_BoundBatch late;
  EXPECT_FALSE(found->Execute(&late));
  EXPECT_EQ(found->Take(std::chrono::milliseconds(kAMinute)), nullptr);
}

}  // namespace
}  // namespace nereid::bound
