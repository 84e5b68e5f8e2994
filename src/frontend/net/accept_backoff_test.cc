// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/accept_backoff.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace nereid::frontend::net {
namespace {

boost::system::error_code Error(int number) { return {number, boost::system::system_category()}; }

TEST(AcceptBackoff, PausesOnlyWhereTheNextAcceptWouldFailToo) {
  for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM, EBADF}) {
    EXPECT_GT(PauseAfterAccept(error).count(), 0) << error;
  }
  for (const int error : {ECONNABORTED, EPROTO, ENETDOWN, EHOSTUNREACH, EINTR}) {
    EXPECT_EQ(PauseAfterAccept(error).count(), 0) << error;
  }
}

TEST(AcceptBackoff, AcceptsAtOnceAfterThePauseOrNeverAgain) {
  boost::asio::io_context context;
  AcceptBackoff backoff(context, "test");
  int accepted = 0;
  backoff.Retry(Error(ECONNABORTED), [&] { ++accepted; });
  EXPECT_EQ(accepted, 1);

  backoff.Retry(Error(EMFILE), [&] { ++accepted; });
  EXPECT_EQ(accepted, 1);
  context.run();
  EXPECT_EQ(accepted, 2);

  context.restart();
  backoff.Retry(Error(ENFILE), [&] { ++accepted; });
  backoff.Cancel();
  context.run();
  EXPECT_EQ(accepted, 2);
}

}  // namespace
}  // namespace nereid::frontend::net
