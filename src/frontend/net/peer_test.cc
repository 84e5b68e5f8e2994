// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/peer.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "base/clock.h"
#include "frontend/net/socket.h"
#include "frontend/net/testing/manual_loop.h"

namespace nereid::frontend::net {
namespace {

namespace ip = boost::asio::ip;

TEST(PeerTest, OfAUnixSocketHasTheUserOfTheClient) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const Socket client(pair[0]);
  const base::FakeClock clock;
  testing::ManualLoop loop(clock);
  const std::unique_ptr<ByteStream> stream = loop.NewStream(Socket(pair[1]));
  const Peer peer = stream->peer();
  EXPECT_EQ(peer.address, "unix");
  EXPECT_EQ(peer.uid, getuid());
  EXPECT_EQ(peer.gid, getgid());
  EXPECT_EQ(peer.tls_subject, "");
}

TEST(PeerTest, OfATcpSocketHasTheAddressOfTheClient) {
  ip::tcp::endpoint endpoint(ip::make_address("127.0.0.1"), 0);
  const Socket listener(socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(bind(listener.descriptor(), endpoint.data(), endpoint.size()), 0);
  ASSERT_EQ(listen(listener.descriptor(), 1), 0);
  socklen_t size = endpoint.capacity();
  ASSERT_EQ(getsockname(listener.descriptor(), endpoint.data(), &size), 0);
  const Socket client(socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(connect(client.descriptor(), endpoint.data(), endpoint.size()), 0);
  const Socket accepted(accept(listener.descriptor(), nullptr, nullptr));
  size = endpoint.capacity();
  ASSERT_EQ(getsockname(client.descriptor(), endpoint.data(), &size), 0);
  const Peer peer = PeerOfSocket(accepted.descriptor());
  EXPECT_EQ(peer.address, "127.0.0.1:" + std::to_string(endpoint.port()));
  EXPECT_FALSE(peer.uid.has_value());
  EXPECT_FALSE(peer.gid.has_value());
}

TEST(PeerTest, OfALostConnectionIsUnknown) {
  const Socket never_connected(socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_EQ(PeerOfSocket(never_connected.descriptor()).address, "");
  EXPECT_EQ(PeerOfSocket(-1).address, "");
}

}  // namespace
}  // namespace nereid::frontend::net
