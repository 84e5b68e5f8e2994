// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/out_queue.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "base/testing/failing_allocation.h"
#include "frontend/net/testing/memory_stream.h"

namespace nereid::frontend::net {
namespace {

using Outcome = OutQueue::Outcome;
using testing::MemoryStream;

std::shared_ptr<const std::string> Text(size_t size, char letter) {
  return std::make_shared<const std::string>(size, letter);
}

TEST(OutQueue, KeepsTheOrderOfCopiesAndViews) {
  MemoryStream stream;
  stream.max_write = 7;
  OutQueue queue;
  const auto text = std::make_shared<const std::string>("a view");
  queue.Copy("he");
  queue.Copy("ad ");
  queue.View(*text, text);
  queue.View("", text);
  queue.Copy("");
  queue.Copy(" tail ");
  queue.View(*text, text);
  EXPECT_EQ(queue.size(), 23u);
  EXPECT_EQ(queue.Write(stream), Outcome::kDone);
  EXPECT_EQ(stream.output, "head a view tail a view");
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(text.use_count(), 1);
}

TEST(OutQueue, WritesManyPiecesWithOneCall) {
  MemoryStream stream;
  OutQueue queue;
  const auto text = Text(10000, 'v');
  for (int i = 0; i < 20; ++i) {
    queue.Copy("head");
    queue.View(*text, text);
  }
  EXPECT_EQ(queue.Write(stream), Outcome::kDone);
  EXPECT_EQ(stream.writes, 1);
}

TEST(OutQueue, StopsAtTheMaximumOfACall) {
  MemoryStream stream;
  OutQueue queue;
  const auto text = Text(10000, 'v');
  queue.Copy("head");
  queue.View(*text, text);
  queue.View(*text, text);
  EXPECT_EQ(queue.Write(stream, 12000), Outcome::kPaused);
  EXPECT_EQ(stream.output.size(), 12000u);
  EXPECT_EQ(queue.Write(stream, 8004), Outcome::kDone);
  EXPECT_EQ(stream.output, "head" + *text + *text);
}

TEST(OutQueue, ALostStreamIsReported) {
  MemoryStream stream;
  stream.is_lost = true;
  OutQueue queue;
  queue.Copy("nobody reads");
  EXPECT_EQ(queue.Write(stream), Outcome::kLost);
  EXPECT_EQ(queue.Send(stream, "this"), Outcome::kLost);
}

// A reader that never lets the queue become empty: each refill comes before the rest is written.
TEST(OutQueue, ReleasesWhatIsWrittenAlthoughItIsNeverEmpty) {
  MemoryStream stream;
  OutQueue queue(100'000);
  std::deque<std::weak_ptr<const std::string>> owners;
  size_t added = 0;
  const auto fill = [&] {
    while (!queue.IsFull()) {
      const auto text = Text(20'000, static_cast<char>('a' + owners.size() % 26));
      owners.push_back(text);
      queue.Copy("some frame's head");
      queue.View(*text, text);
      added += 20'017;
    }
  };
  size_t written = 0;
  for (int i = 0; i < 3000; ++i) {
    fill();
    stream.room = 50'000;
    ASSERT_EQ(queue.Write(stream), Outcome::kBlocked);
    written += std::exchange(stream.output, {}).size();
    ASSERT_EQ(queue.size(), added - written);
    size_t alive = 0;
    for (const auto& owner : owners) alive += owner.expired() ? 0 : 1;
    ASSERT_LE(alive, queue.size() / 20'000 + 1);
    while (!owners.empty() && owners.front().expired()) owners.pop_front();
    ASSERT_LE(owners.size(), 7u);  // in the order in which they were added
  }
  EXPECT_EQ(written, 150'000'000u);
  stream.room = SIZE_MAX;
  EXPECT_EQ(queue.Write(stream), Outcome::kDone);
  for (const auto& owner : owners) EXPECT_TRUE(owner.expired());
}

// Memory does not grow with what was sent: once the containers have their sizes, no allocation is
// needed, which would fail here.
TEST(OutQueue, TakesNoMoreMemoryForWhatFollows) {
  MemoryStream stream;
  const std::string head(100, 'h');
  const auto text = Text(5000, 'v');
  OutQueue queue;
  const auto turn = [&] {
    for (int i = 0; i < 10; ++i) {
      queue.Copy(head);
      queue.View(*text, text);
    }
    stream.room = 51'000;
    stream.output.clear();
    return queue.Write(stream);
  };
  queue.Copy(std::string(20'000, 'f'));  // so that it is never empty
  for (int i = 0; i < 100; ++i) ASSERT_EQ(turn(), Outcome::kBlocked);
  const base::testing::FailingAllocation failing;
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(turn(), Outcome::kBlocked);
  EXPECT_FALSE(failing.has_failed());
  EXPECT_EQ(queue.size(), 20'000u);
}

TEST(OutQueue, MovesBytesInAnySlices) {
  OutQueue from;
  OutQueue to;
  auto large = Text(10000, 'x');
  const std::weak_ptr<const std::string> watch = large;
  const auto small = std::make_shared<const std::string>("first");
  from.View(*small, small);
  from.View(*large, large);
  from.Copy("last");
  large.reset();
  for (const size_t size : {3, 7, 6000, 3995}) from.MoveTo(size, &to);
  EXPECT_EQ(small.use_count(), 1);
  EXPECT_EQ(from.size(), 4u);
  EXPECT_FALSE(watch.expired());
  MemoryStream stream;
  EXPECT_EQ(to.Write(stream), Outcome::kDone);
  EXPECT_TRUE(watch.expired());
  from.MoveTo(100, &to);  // more than there is
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(to.Write(stream), Outcome::kDone);
  EXPECT_EQ(stream.output, "first" + std::string(10000, 'x') + "last");
}

TEST(OutQueue, SendCopiesOnlyWhatTheStreamDoesNotTake) {
  MemoryStream stream;
  stream.room = 10;
  OutQueue queue(8);
  EXPECT_EQ(queue.Send(stream, "0123"), Outcome::kDone);
  EXPECT_EQ(queue.Send(stream, "456789abcd"), Outcome::kBlocked);
  EXPECT_EQ(queue.size(), 4u);
  EXPECT_FALSE(queue.IsFull());
  EXPECT_EQ(queue.Send(stream, "efgh"), Outcome::kBlocked);
  EXPECT_TRUE(queue.IsFull());
  stream.room = SIZE_MAX;
  EXPECT_EQ(queue.Send(stream, "ij"), Outcome::kDone);
  EXPECT_EQ(stream.output, "0123456789abcdefghij");
}

TEST(OutQueue, ClearReleasesEverything) {
  OutQueue queue;
  const auto text = Text(5000, 'x');
  queue.View(*text, text);
  queue.Copy("tail");
  queue.Clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(text.use_count(), 1);
}

}  // namespace
}  // namespace nereid::frontend::net
