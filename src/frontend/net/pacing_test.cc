// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/pacing.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "frontend/net/endpoint.h"

namespace nereid::frontend::net {
namespace {

TEST(PacingTest, BbrPaces) {
  EXPECT_TRUE(IsPacing("bbr"));
  EXPECT_TRUE(IsPacing("bbr2"));
  EXPECT_FALSE(IsPacing("cubic"));
  EXPECT_FALSE(IsPacing("reno"));
  EXPECT_FALSE(IsPacing(""));
}

TEST(PacingTest, KnowsLoopbackAddresses) {
  for (const char* text : {"127.0.0.1", "127.255.0.3", "::1", "::ffff:127.0.0.2"}) {
    EXPECT_TRUE(IsLoopback(*ResolveEndpoint("test", text, 1).value().data())) << text;
  }
  for (const char* text : {"128.0.0.1", "10.127.0.1", "0.0.0.0", "::", "::2", "fe80::1",
                           "::ffff:10.0.0.127", "unix:/run/s"}) {
    EXPECT_FALSE(IsLoopback(*ResolveEndpoint("test", text, 1).value().data())) << text;
  }
}

TEST(PacingTest, EndsAndIsRestored) {
  const Socket socket(::socket(AF_INET, SOCK_STREAM, 0));
  if (setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_CONGESTION, "bbr", 3) != 0) {
    GTEST_SKIP() << "this system has no BBR for this user";
  }
  EXPECT_EQ(EndPacingOfClients(socket), "bbr");
  EXPECT_EQ(CongestionControlOf(socket), "reno");
  EXPECT_EQ(EndPacingOfClients(socket), "") << "there is nothing to change";
  RestorePacing(socket, "bbr");
  EXPECT_EQ(CongestionControlOf(socket), "bbr");
}

TEST(PacingTest, WhatTheRouteOfAClientHasIsKept) {
  const Socket socket(::socket(AF_INET, SOCK_STREAM, 0));
  if (setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) != 0) {
    GTEST_SKIP() << "this system has no CUBIC for this user";
  }
  RestorePacing(socket, "bbr");
  EXPECT_EQ(CongestionControlOf(socket), "cubic");
}

TEST(PacingTest, SocketsOfOtherKindsAreNotPaced) {
  const Socket socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  EXPECT_EQ(CongestionControlOf(socket), "");
  EXPECT_EQ(EndPacingOfClients(socket), "");
}

}  // namespace
}  // namespace nereid::frontend::net
