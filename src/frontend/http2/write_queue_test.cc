// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/write_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "frontend/net/testing/memory_stream.h"

namespace nereid::frontend::http2 {
namespace {

TEST(WriteQueue, KeepsOrderAndOwnersUntilWritten) {
  net::testing::MemoryStream stream;
  stream.max_write = 100'000;
  stream.room = 1'000'000;
  auto owner = std::make_shared<std::string>(std::string(3 << 20, 'v'));
  const std::weak_ptr<std::string> watch = owner;
  WriteQueue queue;
  queue.Copy("head");
  queue.Copy("er");
  queue.View(*owner, owner);
  queue.Copy("tail");
  const std::string expected = "header" + *owner + "tail";
  owner.reset();
  EXPECT_EQ(queue.pending(), expected.size());
  EXPECT_EQ(queue.Write(stream), WriteQueue::Outcome::kBlocked);
  EXPECT_EQ(queue.pending(), expected.size() - 1'000'000);
  EXPECT_FALSE(watch.expired());
  stream.room = SIZE_MAX;
  EXPECT_EQ(queue.Write(stream), WriteQueue::Outcome::kDone);
  EXPECT_EQ(stream.output, expected);
  EXPECT_EQ(queue.pending(), 0u);
  EXPECT_TRUE(watch.expired());
  stream.is_lost = true;
  queue.Copy("nobody reads");
  EXPECT_EQ(queue.Write(stream), WriteQueue::Outcome::kFailed);
}

}  // namespace
}  // namespace nereid::frontend::http2
