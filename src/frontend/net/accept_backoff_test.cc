// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/accept_backoff.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/clock.h"
#include "frontend/net/testing/manual_loop.h"

namespace nereid::frontend::net {
namespace {

using std::chrono::milliseconds;

TEST(AcceptBackoff, PausesOnlyWhereTheNextAcceptWouldFailToo) {
  for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM, EBADF}) {
    EXPECT_GT(PauseAfterAccept(error).count(), 0) << error;
  }
  for (const int error : {ECONNABORTED, EPROTO, ENETDOWN, EHOSTUNREACH, EINTR}) {
    EXPECT_EQ(PauseAfterAccept(error).count(), 0) << error;
  }
}

TEST(AcceptBackoff, NamesTheLimitToRaise) {
  EXPECT_NE(ReasonOfAcceptFailure(EMFILE).find("Too many open files; this process may have "),
            std::string::npos);
  EXPECT_NE(ReasonOfAcceptFailure(EMFILE).find("ulimit -n"), std::string::npos);
  EXPECT_NE(ReasonOfAcceptFailure(ENFILE).find("fs.file-max"), std::string::npos);
}

TEST(AcceptBackoff, ResumesOnceAfterThePauseOrNeverAgain) {
  base::FakeClock clock;
  net::testing::ManualLoop loop(clock);
  int resumed = 0;
  AcceptBackoff backoff(loop, [&] { ++resumed; });
  backoff.Pause(milliseconds(100));
  clock.Advance(99'000'000);
  loop.RunTurn();
  EXPECT_EQ(resumed, 0);
  clock.Advance(1'000'000);
  loop.RunTurn();
  loop.RunTurn();
  EXPECT_EQ(resumed, 1);

  backoff.Pause(milliseconds(100));
  backoff.Cancel();
  clock.Advance(1'000'000'000);
  loop.RunTurn();
  EXPECT_EQ(resumed, 1);
}

}  // namespace
}  // namespace nereid::frontend::net
