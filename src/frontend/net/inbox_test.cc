// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/inbox.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/testing/failing_allocation.h"

namespace nereid::frontend::net {
namespace {

struct Note final : Task {
  Note(std::vector<int>& log, int number) : log(log), number(number) {}
  void Run() noexcept override {
    log.push_back(number);
    if (on_run) on_run();
  }
  void Drop() noexcept override { log.push_back(-number); }

  std::vector<int>& log;
  const int number;
  std::function<void()> on_run;
};

bool IsAwake(const Inbox& inbox) {
  pollfd state{inbox.wake_descriptor(), POLLIN, 0};
  return poll(&state, 1, 0) == 1;
}

class InboxTest : public ::testing::Test {
 protected:
  void RunAll() {
    TaskList tasks;
    inbox_->Take(&tasks);
    while (!tasks.empty()) tasks.PopFront().RunNow();
  }

  const std::shared_ptr<Inbox> inbox_ = Inbox::Make().value();
  std::vector<int> log_;
};

TEST_F(InboxTest, GivesTasksInTheirOrderAndEachOnce) {
  Note one(log_, 1), two(log_, 2), three(log_, 3);
  for (Note* note : {&one, &two, &three, &one}) inbox_->Post(*note, nullptr);
  RunAll();
  EXPECT_EQ(log_, (std::vector{1, 2, 3}));
  RunAll();
  EXPECT_EQ(log_.size(), 3u);
  inbox_->Post(two, nullptr);
  RunAll();
  EXPECT_EQ(log_.back(), 2);
}

TEST_F(InboxTest, PostingTakesNoMemory) {
  auto note = std::make_shared<Note>(log_, 1);
  Note& task = *note;
  {
    const base::testing::FailingAllocation no_memory;
    inbox_->Post(task, std::move(note));
  }
  RunAll();
  EXPECT_EQ(log_, (std::vector{1}));
}

TEST_F(InboxTest, ATaskMayBePostedAgainWhileItRuns) {
  Note note(log_, 1);
  note.on_run = [&] {
    if (log_.size() < 3) inbox_->Post(note, nullptr);
  };
  inbox_->Post(note, nullptr);
  RunAll();
  EXPECT_EQ(log_.size(), 1u);
  RunAll();
  RunAll();
  RunAll();
  EXPECT_EQ(log_.size(), 3u);
}

TEST_F(InboxTest, KeepsTheOwnerUntilTheTaskHasRun) {
  auto note = std::make_shared<Note>(log_, 1);
  const std::weak_ptr<Note> watch = note;
  note->on_run = [&] { EXPECT_FALSE(watch.expired()); };
  Note& task = *note;
  inbox_->Post(task, std::move(note));
  EXPECT_FALSE(watch.expired());
  RunAll();
  EXPECT_TRUE(watch.expired());
}

TEST_F(InboxTest, DropsTasksWhenClosedAndEverAfter) {
  auto note = std::make_shared<Note>(log_, 1);
  Note& task = *note;
  const std::weak_ptr<Note> watch = note;
  Note late(log_, 2);
  inbox_->Post(task, std::move(note));
  inbox_->Close();
  EXPECT_EQ(log_, (std::vector{-1}));
  EXPECT_TRUE(watch.expired());
  inbox_->Post(late, nullptr);
  inbox_->Post(late, nullptr);
  EXPECT_EQ(log_, (std::vector{-1, -2, -2}));
  inbox_->Close();
  RunAll();
  EXPECT_EQ(log_.size(), 3u);
}

TEST_F(InboxTest, WakesOnlyALoopThatWaits) {
  Note one(log_, 1), two(log_, 2);
  inbox_->Post(one, nullptr);
  EXPECT_FALSE(IsAwake(*inbox_));
  EXPECT_FALSE(inbox_->Arm());  // there is a task
  RunAll();
  EXPECT_TRUE(inbox_->Arm());
  inbox_->Disarm();
  inbox_->Post(one, nullptr);
  EXPECT_FALSE(IsAwake(*inbox_));
  RunAll();
  EXPECT_TRUE(inbox_->Arm());
  inbox_->Post(two, nullptr);
  EXPECT_TRUE(IsAwake(*inbox_));
  RunAll();  // a task must not be destroyed while it waits
}

TEST_F(InboxTest, LosesNothingOfManyThreads) {
  constexpr int kThreads = 4, kTasks = 2000;
  std::atomic<int> ran{0};
  struct Count final : Task {
    explicit Count(std::atomic<int>& ran) : ran(ran) {}
    void Run() noexcept override { ++ran; }
    std::atomic<int>& ran;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kTasks; ++i) {
        auto task = std::make_shared<Count>(ran);
        Count& posted = *task;
        inbox_->Post(posted, std::move(task));
      }
    });
  }
  // The loop as it is: it waits for the descriptor only when Arm() says that it may.
  while (ran < kThreads * kTasks) {
    if (inbox_->Arm()) {
      pollfd state{inbox_->wake_descriptor(), POLLIN, 0};
      poll(&state, 1, -1);
      uint64_t count = 0;
      (void)!read(inbox_->wake_descriptor(), &count, sizeof(count));
      inbox_->Disarm();
    }
    RunAll();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, kThreads * kTasks);
}

}  // namespace
}  // namespace nereid::frontend::net
