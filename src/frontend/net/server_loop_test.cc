// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/server_loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "frontend/net/epoll_loop.h"

namespace nereid::frontend::net {
namespace {

/// A connection over which nothing comes: it stays until the second call of BeginDrain().
class SilentConnection final : public Connection,
                               private ByteStream::Owner,
                               public std::enable_shared_from_this<SilentConnection> {
 public:
  SilentConnection(ServerLoop& loop, std::unique_ptr<ByteStream> stream)
      : loop_(loop), stream_(std::move(stream)) {}

  void Start() override { EXPECT_TRUE(stream_->Open(*this)); }
  void BeginDrain() override {
    if (std::exchange(drains_, true)) Close();
  }
  void Close() override {
    const auto self = shared_from_this();
    stream_->Close();
    loop_.Remove(*this);
  }
  bool drains() const { return drains_; }

 private:
  void OnReadable() noexcept override {}
  void OnWritable() noexcept override {}
  void OnLost() noexcept override {}

  ServerLoop& loop_;
  const std::unique_ptr<ByteStream> stream_;
  bool drains_ = false;
};

struct Silence final : Protocol {
  explicit Silence(ServerLoop& loop) : loop(loop) {}
  std::shared_ptr<Connection> Connect(std::unique_ptr<ByteStream> stream) override {
    connections.push_back(std::make_shared<SilentConnection>(loop, std::move(stream)));
    return connections.back();
  }

  ServerLoop& loop;
  std::vector<std::shared_ptr<SilentConnection>> connections;
};

class ServerLoopTest : public ::testing::Test {
 protected:
  ServerLoopTest() { loop_.SetProtocol(protocol_); }

  Socket Connect() const {
    Socket client(socket(endpoint_.family(), SOCK_STREAM, 0));
    EXPECT_EQ(connect(client.descriptor(), endpoint_.data(), endpoint_.size()), 0);
    return client;
  }
  static bool IsOpen(const Socket& client) {
    char byte = 0;
    return recv(client.descriptor(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }

  base::FakeClock clock_;
  ServerLoop loop_{EpollLoop::Make(clock_).value(), "test", nullptr};
  const std::shared_ptr<Silence> protocol_ = std::make_shared<Silence>(loop_);
  const Endpoint endpoint_ =
      loop_.Listen(ResolveEndpoint("test", "127.0.0.1", 0).value(), {}).value();
};

TEST_F(ServerLoopTest, AStopAcceptsTheClientsThatWaitInTheKernelsQueue) {
  std::vector<Socket> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(Connect());
  loop_.BeginDrain();
  loop_.event_loop().RunTurn();
  EXPECT_EQ(protocol_->connections.size(), clients.size());
  for (const auto& connection : protocol_->connections) EXPECT_TRUE(connection->drains());
  for (const Socket& client : clients) EXPECT_TRUE(IsOpen(client));
  Socket late(socket(endpoint_.family(), SOCK_STREAM, 0));
  EXPECT_NE(connect(late.descriptor(), endpoint_.data(), endpoint_.size()), 0);
  loop_.CloseAll();
  loop_.event_loop().RunTurn();
}

TEST_F(ServerLoopTest, ClientsThatSendNothingAreDisconnectedSoonAfterAStop) {
  const Socket client = Connect();
  loop_.BeginDrain();
  loop_.event_loop().RunTurn();
  clock_.Advance(99'000'000);
  loop_.event_loop().RunTurn();
  EXPECT_TRUE(IsOpen(client));
  clock_.Advance(1'000'000);
  loop_.event_loop().RunTurn();
  EXPECT_FALSE(IsOpen(client));
  EXPECT_TRUE(loop_.connections().empty());
}

}  // namespace
}  // namespace nereid::frontend::net
