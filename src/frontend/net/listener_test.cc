// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/listener.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "frontend/net/epoll_loop.h"
#include "frontend/net/pacing.h"

namespace nereid::frontend::net {
namespace {

const Endpoint kAnyPort = ResolveEndpoint("test", "127.0.0.1", 0).value();
constexpr uint64_t kPauseNs = std::chrono::nanoseconds(kAcceptPause).count();

class ListenerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Listener> NewListener() {
    return std::make_unique<Listener>(
        *loop_, "test", [this](Arrival arrival) { accepted_.push_back(std::move(arrival)); },
        limit_ ? &*limit_ : nullptr);
  }
  /// Connects, and gives the loop a turn.
  void Connect(const Endpoint& endpoint) {
    Socket client(socket(endpoint.family(), SOCK_STREAM, 0));
    connected_ = connect(client.descriptor(), endpoint.data(), endpoint.size()) == 0;
    clients_.push_back(std::move(client));
    loop_->RunTurn();
  }

  base::FakeClock clock_;
  const std::unique_ptr<EventLoop> loop_ = EpollLoop::Make(clock_).value();
  std::optional<ConnectionLimit> limit_;
  std::vector<Arrival> accepted_;
  std::vector<Socket> clients_;
  bool connected_ = false;
};

TEST_F(ListenerTest, AcceptsOneConnectionAfterTheOtherUntilItIsClosed) {
  const auto listener = NewListener();
  const auto bound = listener->Listen(kAnyPort, {});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  EXPECT_NE(bound->port(), 0);
  listener->Accept();
  for (const size_t expected : {1u, 2u, 3u}) {
    Connect(*bound);
    EXPECT_EQ(accepted_.size(), expected);
  }
  listener->Close();
  Connect(*bound);
  EXPECT_FALSE(connected_);
  EXPECT_EQ(accepted_.size(), 3u);
}

TEST_F(ListenerTest, ClientsOfThisMachineAreNotPaced) {
  const auto listener = NewListener();
  const auto bound = listener->Listen(kAnyPort, {});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  listener->Accept();
  Connect(*bound);
  ASSERT_EQ(accepted_.size(), 1u);
  EXPECT_FALSE(IsPacing(CongestionControlOf(accepted_[0].socket)));
}

TEST_F(ListenerTest, MayBeClosedByTheConnectionThatItAccepts) {
  std::unique_ptr<Listener> listener;
  listener = std::make_unique<Listener>(*loop_, "test", [&](Arrival arrival) {
    accepted_.push_back(std::move(arrival));
    listener->Close();
  });
  const Endpoint bound = listener->Listen(kAnyPort, {}).value();
  listener->Accept();
  Connect(bound);
  Connect(bound);
  EXPECT_EQ(accepted_.size(), 1u);
  EXPECT_FALSE(connected_);
}

TEST_F(ListenerTest, RestsWhileThereAreAsManyConnectionsAsMayBe) {
  limit_.emplace(2);
  const auto listener = NewListener();
  const Endpoint bound = listener->Listen(kAnyPort, {}).value();
  listener->Accept();
  for (int i = 0; i < 3; ++i) Connect(bound);
  EXPECT_TRUE(connected_);  // by the kernel: the client waits in its queue
  EXPECT_EQ(accepted_.size(), 2u);
  clock_.Advance(kPauseNs);
  loop_->RunTurn();
  loop_->RunTurn();
  EXPECT_EQ(accepted_.size(), 2u);
  accepted_.erase(accepted_.begin());
  clock_.Advance(kPauseNs);
  loop_->RunTurn();
  loop_->RunTurn();
  EXPECT_EQ(accepted_.size(), 2u);  // the third client has the place of the first one
}

TEST_F(ListenerTest, RestsWhileTheProcessHasNoDescriptors) {
  limit_.emplace(1000);
  const auto listener = NewListener();
  const Endpoint bound = listener->Listen(kAnyPort, {}).value();
  listener->Accept();
  Socket client(socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(connect(client.descriptor(), bound.data(), bound.size()), 0);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{static_cast<rlim_t>(client.descriptor()), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  loop_->RunTurn();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  loop_->RunTurn();
  EXPECT_TRUE(accepted_.empty());  // the pause is not over
  clock_.Advance(kPauseNs);
  loop_->RunTurn();
  loop_->RunTurn();
  EXPECT_EQ(accepted_.size(), 1u);
  std::vector<ConnectionLimit::Place> places;
  for (int i = 1; i < 1000; ++i) places.push_back(limit_->Take());
  EXPECT_TRUE(places.back());  // only the one connection counts
  EXPECT_FALSE(limit_->Take());
}

TEST_F(ListenerTest, APortIsSharedOnlyAmongThoseThatShareIt) {
  const auto first = NewListener(), second = NewListener(), alone = NewListener();
  const Endpoint bound = first->Listen(kAnyPort, {.shared = true}).value();
  const auto same = second->Listen(bound, {.shared = true});
  ASSERT_TRUE(same.ok()) << same.status().message();
  EXPECT_EQ(*same, bound);
  const std::string text =
      "Socket '127.0.0.1:" + std::to_string(bound.port()) + "' already in use ";
  const auto refused = alone->Listen(bound, {});
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
  const Endpoint elsewhere = ResolveEndpoint("test", "192.0.2.1", 8000).value();
  const auto refused = NewListener()->Listen(elsewhere, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(refused.status().message().find("cannot listen on socket '192.0.2.1:8000': "), 0u)
      << refused.status().message();
}

TEST_F(ListenerTest, AnAddressHasAsManyConnectionsAsItMayHave) {
  limit_.emplace(100, /*max_per_address=*/2);
  const auto listener = NewListener();
  const Endpoint bound = listener->Listen(kAnyPort, {}).value();
  listener->Accept();
  for (int i = 0; i < 3; ++i) Connect(bound);
  EXPECT_EQ(accepted_.size(), 2u);
  char byte = 0;
  EXPECT_LE(recv(clients_[2].descriptor(), &byte, 1, 0), 0);  // disconnected
  accepted_.pop_back();
  Connect(bound);
  EXPECT_EQ(accepted_.size(), 2u);
}

}  // namespace
}  // namespace nereid::frontend::net
