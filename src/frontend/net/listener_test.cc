// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/listener.h"

#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <memory>

namespace nereid::frontend::net {
namespace {

namespace asio = boost::asio;

const Endpoint kAnyPort(asio::ip::make_address("127.0.0.1"), 0);

class ListenerTest : public testing::Test {
 protected:
  std::unique_ptr<Listener> NewListener() {
    return std::make_unique<Listener>(io_, "test", [this](Socket socket) {
      ++accepted_;
      socket.close();
    });
  }
  /// Connects, and runs the loop until nothing more happens at once.
  void Connect(const Endpoint& endpoint) {
    asio::ip::tcp::socket client(io_);
    boost::system::error_code error;
    client.connect(endpoint, error);
    connected_ = !error;
    io_.restart();
    io_.poll();
  }

  asio::io_context io_;
  int accepted_ = 0;
  bool connected_ = false;
};

TEST_F(ListenerTest, AcceptsOneConnectionAfterTheOtherUntilItIsClosed) {
  const auto listener = NewListener();
  const auto bound = listener->Listen(kAnyPort, /*shared=*/false);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  EXPECT_NE(bound->port(), 0);
  listener->Accept();
  for (int expected : {1, 2, 3}) {
    Connect(*bound);
    EXPECT_EQ(accepted_, expected);
  }
  listener->Close();
  Connect(*bound);
  EXPECT_FALSE(connected_);
  EXPECT_EQ(accepted_, 3);
}

TEST_F(ListenerTest, MayBeClosedByTheConnectionThatItAccepts) {
  std::unique_ptr<Listener> listener;
  listener = std::make_unique<Listener>(io_, "test", [&](Socket) {
    ++accepted_;
    listener->Close();
  });
  const Endpoint bound = listener->Listen(kAnyPort, false).value();
  listener->Accept();
  Connect(bound);
  Connect(bound);
  EXPECT_EQ(accepted_, 1);
  EXPECT_FALSE(connected_);
}

TEST_F(ListenerTest, APortIsSharedOnlyAmongThoseThatShareIt) {
  const auto first = NewListener(), second = NewListener(), alone = NewListener();
  const Endpoint bound = first->Listen(kAnyPort, /*shared=*/true).value();
  const auto same = second->Listen(bound, /*shared=*/true);
  ASSERT_TRUE(same.ok()) << same.status().message();
  EXPECT_EQ(*same, bound);
  const std::string text =
      "Socket '127.0.0.1:" + std::to_string(bound.port()) + "' already in use ";
  const auto refused = alone->Listen(bound, /*shared=*/false);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(refused.status().message(), text);
  EXPECT_EQ(CheckPortIsFree(bound).message(), text);
  first->Close();
  second->Close();
  EXPECT_TRUE(CheckPortIsFree(bound).ok());
}

TEST_F(ListenerTest, OtherFailuresNameTheSocket) {
  // An address that no machine has (RFC 5737).
  const Endpoint elsewhere(asio::ip::make_address("192.0.2.1"), 8000);
  const auto refused = NewListener()->Listen(elsewhere, false);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(refused.status().message().find("cannot listen on socket '192.0.2.1:8000': "), 0u)
      << refused.status().message();
}

TEST(ResolveEndpointTest, TakesAddressesAndNames) {
  EXPECT_EQ(ResolveEndpoint("HTTP", "0.0.0.0", 8000).value(),
            Endpoint(asio::ip::address_v4::any(), 8000));
  EXPECT_EQ(ResolveEndpoint("HTTP", "::1", 1).value(),
            Endpoint(asio::ip::address_v6::loopback(), 1));
  EXPECT_TRUE(ResolveEndpoint("HTTP", "localhost", 8000).value().address().is_loopback());
  const auto unknown = ResolveEndpoint("gRPC", "no such host", 8001);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.status().code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(unknown.status().message().find("the gRPC address 'no such host' cannot be resolved: "),
            0u)
      << unknown.status().message();
}

}  // namespace
}  // namespace nereid::frontend::net
