// SPDX-License-Identifier: Apache-2.0
#include "python/function_timer.h"

#include <gmock/gmock.h>

namespace nereid::python {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using Due = FunctionTimer::Due;

const FunctionTimer::Time kBegin = FunctionTimer::Time() + seconds(1000);

/// Goes from one due time to the next, up to `end` after the begin. Returns the seconds at which
/// the log tells that the function runs; the last one negative if the limit was over then.
std::vector<int64_t> Notices(milliseconds limit, seconds end) {
  FunctionTimer timer;
  timer.Begin("initialize", limit, kBegin);
  std::vector<int64_t> times;
  while (timer.Next() && *timer.Next() <= kBegin + end) {
    const FunctionTimer::Time now = *timer.Next();
    const Due due = timer.Take(now);
    EXPECT_NE(due, Due::kNothing);
    times.push_back(due == Due::kLimit ? -timer.Lasted(now).count() : timer.Lasted(now).count());
  }
  return times;
}

TEST(FunctionTimerTest, AFunctionWithoutALimitIsNamedInTheLogWhileItRuns) {
  EXPECT_THAT(Notices(milliseconds(0), seconds(2600)),
              ElementsAre(10, 20, 40, 80, 160, 320, 640, 1240, 1840, 2440));
}

TEST(FunctionTimerTest, ALimitEndsTheNotices) {
  EXPECT_THAT(Notices(seconds(45), seconds(1000)), ElementsAre(10, 20, 40, -45));
  EXPECT_THAT(Notices(seconds(3), seconds(1000)), ElementsAre(-3));
}

TEST(FunctionTimerTest, ALateLookTellsOnce) {
  FunctionTimer timer;
  timer.Begin("finalize", milliseconds(0), kBegin);
  EXPECT_EQ(timer.Take(kBegin + seconds(9)), Due::kNothing);
  EXPECT_EQ(timer.Take(kBegin + seconds(100)), Due::kNotice);
  EXPECT_EQ(timer.Take(kBegin + seconds(199)), Due::kNothing);
  EXPECT_EQ(timer.Take(kBegin + seconds(200)), Due::kNotice);
}

TEST(FunctionTimerTest, NothingIsDueAfterTheEnd) {
  FunctionTimer timer;
  EXPECT_EQ(timer.Next(), std::nullopt);
  timer.Begin("finalize", seconds(1), kBegin);
  timer.End();
  EXPECT_EQ(timer.Next(), std::nullopt);
  EXPECT_EQ(timer.Take(kBegin + seconds(5)), Due::kNothing);
}

}  // namespace
}  // namespace nereid::python
