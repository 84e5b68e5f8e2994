// SPDX-License-Identifier: Apache-2.0
// The order in which an event loop serves newcomers and others.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "frontend/net/epoll_loop.h"

namespace nereid::frontend::net {
namespace {

/// A client of the loop under test whose byte waits until it is read.
class Client : private Watcher {
 public:
  Client(EventLoop& loop, Rank rank, std::function<void(Client&)> on_ready)
      : Watcher(rank), loop_(loop), on_ready_(std::move(on_ready)) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair_), 0);
    EXPECT_TRUE(loop_.Watch(pair_[0], *this, {.reading = true}));
    Send();
  }
  Client(const Client&) = delete;
  ~Client() {
    Leave();
    close(pair_[0]);
    close(pair_[1]);
  }

  void Send() { EXPECT_EQ(write(pair_[1], "x", 1), 1); }
  void Read() {
    char byte = 0;
    EXPECT_EQ(read(pair_[0], &byte, 1), 1);
  }
  void Promote() { loop_.Promote(pair_[0], *this, {.reading = true}); }
  void Leave() {
    if (std::exchange(is_watched_, false)) loop_.Unwatch(pair_[0], *this);
  }

 private:
  void OnReady(Ready) noexcept override { on_ready_(*this); }

  EventLoop& loop_;
  const std::function<void(Client&)> on_ready_;
  bool is_watched_ = true;
  int pair_[2] = {-1, -1};
};

class NewcomersTest : public ::testing::Test {
 protected:
  static constexpr auto kServed = Watcher::Rank::kServed;
  static constexpr auto kNewcomer = Watcher::Rank::kNewcomer;

  /// Adds a client that has something to say. The loop calls it until it has read.
  Client& Add(Watcher::Rank rank, std::function<void(Client&)> on_ready) {
    return clients_.emplace_back(*loop_, rank, [this, on_ready](Client& client) {
      called_.push_back(&client);
      on_ready(client);
    });
  }
  static void Read(Client& client) { client.Read(); }
  size_t CallsOf(const Client& client) const {
    return static_cast<size_t>(std::count(called_.begin(), called_.end(), &client));
  }

  base::FakeClock clock_;
  const std::unique_ptr<EventLoop> loop_ = EpollLoop::Make(clock_).value();
  std::deque<Client> clients_;
  std::vector<Client*> called_;
};

TEST_F(NewcomersTest, ComeAfterTheOthers) {
  Client& newcomer = Add(kNewcomer, Read);
  Client& served = Add(kServed, Read);
  loop_->RunTurn();
  EXPECT_EQ(called_, (std::vector<Client*>{&served, &newcomer}));
}

TEST_F(NewcomersTest, AreCalledAgainAsLongAsTheyHaveNotRead) {
  const Client& newcomer = Add(kNewcomer, [](Client&) {});
  for (int turn = 0; turn < 3; ++turn) loop_->RunTurn();
  EXPECT_EQ(CallsOf(newcomer), 3u);
}

TEST_F(NewcomersTest, AreServedForALimitedTimeOfATurn) {
  constexpr size_t kMany = 100;
  for (size_t i = 0; i < kMany; ++i) {
    Add(kNewcomer, [this](Client& client) {
      client.Read();
      clock_.Advance(EventLoop::kNewcomersNs * 3 / 4);
    });
  }
  const Client& served = Add(kServed, [](Client&) {});
  for (size_t turn = 1; turn <= kMany / 2; ++turn) {
    loop_->RunTurn();
    ASSERT_EQ(CallsOf(served), turn);
    ASSERT_EQ(called_.size(), turn * 3);
  }
  for (const Client& client : clients_) {
    EXPECT_EQ(CallsOf(client), &client == &served ? kMany / 2 : 1u);
  }
}

TEST_F(NewcomersTest, AreNewcomersNoMoreAfterAPromotion) {
  Client& newcomer = Add(kNewcomer, Read);
  Client& promoted = Add(kNewcomer, [](Client& client) {
    client.Read();
    client.Promote();
    client.Promote();
  });
  loop_->RunTurn();
  called_.clear();
  newcomer.Send();
  promoted.Send();
  loop_->RunTurn();
  EXPECT_EQ(called_, (std::vector<Client*>{&promoted, &newcomer}));
  promoted.Leave();
  promoted.Send();
  loop_->RunTurn();
  EXPECT_EQ(CallsOf(promoted), 1u);
}

TEST_F(NewcomersTest, ThatLeaveAreNotCalledInALaterTurn) {
  Client* last = nullptr;
  Add(kNewcomer, [&](Client& client) {
    client.Read();
    clock_.Advance(EventLoop::kNewcomersNs);  // the others wait for the next turn
  });
  last = &Add(kNewcomer, Read);
  loop_->RunTurn();
  last->Leave();
  loop_->RunTurn();
  EXPECT_EQ(CallsOf(*last), 0u);
}

}  // namespace
}  // namespace nereid::frontend::net
