// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>

#include "base/checked_math.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/files.h"
#include "base/log.h"
#include "base/result.h"
#include "base/shared_library.h"
#include "base/threads.h"
#include "base/timer_queue.h"

namespace nereid::base {
namespace {

TEST(StatusTest, TextNamesTheCode) {
  EXPECT_EQ(Status::Ok().ToString(), "OK");
  EXPECT_EQ(Status::InvalidArgument("bad").ToString(), "Invalid argument: bad");
  EXPECT_EQ(Status::Ok().WithPrefix("x").message(), "");
  EXPECT_EQ(Status::NotFound("b").WithPrefix("a").message(), "ab");
}

Result<int> Half(int value) {
  if (value % 2 != 0) return Status::InvalidArgument("odd");
  return value / 2;
}

Result<int> Quarter(int value) {
  NEREID_ASSIGN_OR_RETURN(const int half, Half(value));
  return Half(half);
}

TEST(ResultTest, PassesFailuresOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
  EXPECT_FALSE(Quarter(7).ok());
}

TEST(ResultTest, AnOkStatusIsNoValue) {
  const Result<int> result = Status::Ok();
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kInternal);
}

TEST(CheckedMathTest, NoticesOverflow) {
  EXPECT_EQ(CheckedMultiply<uint64_t>(1u << 20, 1u << 20), uint64_t{1} << 40);
  EXPECT_FALSE(CheckedMultiply<int64_t>(int64_t{1} << 62, 2));
  EXPECT_FALSE(CheckedAdd<uint64_t>(UINT64_MAX, 1));
}

TEST(LogTest, WritesBothFormatsToTheFile) {
  const auto path =
      std::filesystem::temp_directory_path() / ("nereid_log_test_" + std::to_string(getpid()));
  Log& log = Log::Instance();
  ASSERT_TRUE(log.SetFile(path.string()).ok());
  LOG_INFO << "plain " << 1;
  log.SetFormat(LogFormat::kIso8601);
  LOG_ERROR << "second";
  LOG_VERBOSE(1) << "not written";
  log.SetFormat(LogFormat::kDefault);
  ASSERT_TRUE(log.SetFile("").ok());
  const std::string text = *ReadFile(path.string());
  std::filesystem::remove(path);
  const std::string pid = std::to_string(getpid());
  EXPECT_EQ(text[0], 'I');
  EXPECT_NE(text.find(" " + pid + " base_test.cc:"), std::string::npos) << text;
  EXPECT_NE(text.find("] \"plain 1\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Z E " + pid), std::string::npos) << text;
  EXPECT_EQ(text.find("not written"), std::string::npos) << text;
}

TEST(LogTest, RefusesAFileItCannotOpen) {
  const Status status = Log::Instance().SetFile("/nonexistent/directory/log");
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_EQ(Log::Instance().file(), "");
}

TEST(ManualTimerQueueTest, RunsWhatIsDueInOrderOfTime) {
  FakeClock clock(100);
  ManualTimerQueue timers(clock);
  std::string order;
  timers.Schedule(130, [&] { order += 'c'; });
  timers.Schedule(110, [&] { order += 'a'; });
  const auto cancelled = timers.Schedule(115, [&] { order += 'x'; });
  timers.Schedule(120, [&] { order += 'b'; });
  timers.Cancel(cancelled);
  EXPECT_EQ(timers.RunDue(), 0);
  clock.Advance(20);
  EXPECT_EQ(timers.RunDue(), 2);
  EXPECT_EQ(order, "ab");
  clock.Advance(10);
  EXPECT_EQ(timers.RunDue(), 1);
  EXPECT_EQ(order, "abc");
}

TEST(ManualTimerQueueTest, MovesATimerThatHasNotRun) {
  FakeClock clock(100);
  ManualTimerQueue timers(clock);
  std::string order;
  const auto moved = timers.Schedule(130, [&] { order += 'a'; });
  timers.Schedule(120, [&] { order += 'b'; });
  EXPECT_TRUE(timers.Move(moved, 110));
  clock.Advance(20);
  EXPECT_EQ(timers.RunDue(), 2);
  EXPECT_EQ(order, "ab");
  EXPECT_FALSE(timers.Move(moved, 150)) << "it has run";
  EXPECT_EQ(timers.size(), 0u);
}

TEST(ThreadTimerQueueTest, MovesATimerToAnEarlierTime) {
  ThreadTimerQueue timers;
  const auto ran = std::make_shared<std::promise<void>>();
  const uint64_t now = SteadyClock().NowNs();
  const auto moved = timers.Schedule(kNever - 1, [ran] { ran->set_value(); });
  EXPECT_TRUE(timers.Move(moved, now));
  ran->get_future().wait();
  EXPECT_FALSE(timers.Move(moved, now)) << "it has run";
}

/// Counts how often the queue asks for the time.
class CountingClock final : public Clock {
 public:
  uint64_t NowNs() const override {
    asked.fetch_add(1);
    return SteadyClock().NowNs();
  }
  uint64_t WallMs() const override { return SteadyClock().WallMs(); }
  mutable std::atomic<uint64_t> asked{0};
};

TEST(ThreadTimerQueueTest, DoesNotSpinForATimerThatNeverComes) {
  CountingClock clock;
  ThreadTimerQueue timers(clock);
  const auto never = timers.Schedule(10'000'000'000'000'000'000u, [] {});
  constexpr uint64_t kRounds = 200;
  for (uint64_t i = 0; i < kRounds; ++i) {
    const auto ran = std::make_shared<std::promise<void>>();
    timers.Schedule(0, [ran] { ran->set_value(); });
    ran->get_future().wait();
  }
  timers.Cancel(never);
  EXPECT_LE(clock.asked.load(), 4 * kRounds) << "a thread asks for the time all the time";
}

TEST(DurationTest, NothingOverflows) {
  EXPECT_EQ(Duration::Microseconds(7).ns(), 7'000u);
  EXPECT_EQ(Duration::Milliseconds(7).After(1), 7'000'001u);
  EXPECT_EQ(Duration::Seconds(18'446'744'073).ns(), 18'446'744'073'000'000'000u);
  EXPECT_EQ(Duration::Seconds(18'446'744'074).ns(), kNever);
  EXPECT_EQ(Duration::Microseconds(UINT64_MAX).After(0), kNever);
  EXPECT_EQ(Duration::Hours(UINT64_MAX).After(5), kNever);
  EXPECT_EQ(Duration::Nanoseconds(kNever - 5).After(5), kNever);
  EXPECT_EQ(Duration::Nanoseconds(kNever - 5).After(6), kNever);
  EXPECT_EQ(Duration::Nanoseconds(kNever - 5).After(4), kNever - 1);
}

TEST(DurationTest, AWaitHasALimit) {
  using std::chrono::nanoseconds;
  EXPECT_EQ(WaitTime(5, 12), nanoseconds(7));
  EXPECT_EQ(WaitTime(12, 5), nanoseconds(0));
  EXPECT_EQ(WaitTime(5, kNever), std::chrono::hours(1));
  EXPECT_EQ(WaitTime(5, 10'000'000'000'000'000'000u), std::chrono::hours(1));
}

TEST(ThreadTimerQueueTest, RunsAndCancels) {
  ThreadTimerQueue timers;
  std::promise<void> ran;
  std::atomic<bool> never{false};
  const uint64_t now = SteadyClock().NowNs();
  const auto far = timers.Schedule(now + uint64_t{3600} * 1'000'000'000, [&] { never = true; });
  timers.Schedule(now, [&] { ran.set_value(); });
  ran.get_future().wait();
  timers.Cancel(far);
  EXPECT_FALSE(never);
}

TEST(ThreadTimerQueueTest, ACallbackMayCancelItselfAndSchedule) {
  ThreadTimerQueue timers;
  std::promise<void> second;
  std::promise<TimerQueue::TimerId> id;
  auto future = id.get_future().share();
  id.set_value(timers.Schedule(SteadyClock().NowNs(), [&, future] {
    timers.Cancel(future.get());
    timers.Schedule(SteadyClock().NowNs(), [&] { second.set_value(); });
  }));
  second.get_future().wait();
}

TEST(FilesTest, ListsAndReads) {
  const auto root =
      std::filesystem::temp_directory_path() / ("nereid_files_test_" + std::to_string(getpid()));
  std::filesystem::create_directories(root / "b");
  std::filesystem::create_directories(root / "a");
  std::ofstream(root / "file") << "content";
  EXPECT_EQ(*ListSubdirectories(root.string()), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(*ListDirectory(root.string()), (std::vector<std::string>{"a", "b", "file"}));
  EXPECT_EQ(*ReadFile((root / "file").string()), "content");
  EXPECT_EQ(ReadFile((root / "file").string(), 3).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadFile((root / "a").string()).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(JoinPath("/x/", "/y"), "/x/y");
  std::filesystem::remove_all(root);
}

TEST(SharedLibraryTest, SaysWhatCouldNotBeOpened) {
  const auto result = SharedLibrary::Open("/nonexistent/library.so");
  EXPECT_EQ(result.status().code(), StatusCode::kNotFound);
  EXPECT_NE(result.status().message().find("/nonexistent/library.so"), std::string::npos);
}

TEST(ThreadsTest, CountsAtLeastOneCpu) { EXPECT_GE(AvailableCpuCount(), 1); }

}  // namespace
}  // namespace nereid::base
