// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include "base/temporary_directory.h"

namespace nereid::frontend::net {
namespace {

using std::chrono::milliseconds;

/// Gives back what the client sends. While "busy" is the last word, a stop waits for it.
class EchoConnection final : public Connection,
                             private ByteStream::Owner,
                             public std::enable_shared_from_this<EchoConnection> {
 public:
  EchoConnection(ServerLoop& loop, std::unique_ptr<ByteStream> stream)
      : loop_(loop), stream_(std::move(stream)) {}

  void Start() override {
    if (!stream_->Open(*this)) Close();
  }
  void BeginDrain() override {
    draining_ = true;
    if (!busy_) Close();
  }
  void Close() override {
    const auto self = shared_from_this();
    stream_->Close();
    loop_.Remove(*this);
  }

 private:
  void OnReadable() noexcept override {
    const auto self = shared_from_this();
    char bytes[100];
    const auto got = stream_->Read(bytes);
    if (got.state == ByteStream::State::kEnded || got.state == ByteStream::State::kLost) {
      return Close();
    }
    busy_ = std::string_view(bytes, got.size) == "busy";
    const iovec piece = {bytes, got.size};
    stream_->Write({&piece, 1});
    if (draining_ && !busy_) Close();
  }
  void OnWritable() noexcept override {}
  void OnLost() noexcept override { Close(); }

  ServerLoop& loop_;
  const std::unique_ptr<ByteStream> stream_;
  bool busy_ = false;
  bool draining_ = false;
};

struct Echo final : Protocol {
  Echo(ServerLoop& loop, std::atomic<int>& ended, std::atomic<bool>& fails)
      : loop(loop), ended(ended), fails(fails) {}
  std::shared_ptr<Connection> Connect(std::unique_ptr<ByteStream> stream) override {
    if (fails) throw std::bad_alloc();
    ++connected;
    return std::make_shared<EchoConnection>(loop, std::move(stream));
  }
  void OnLoopEnded() override { ++ended; }

  ServerLoop& loop;
  std::atomic<int>& ended;
  std::atomic<bool>& fails;
  std::atomic<int> connected{0};
};

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    options_.service = "test";
    options_.thread_name = "test";
    options_.address = "127.0.0.1";
    options_.loops = 2;
  }
  std::unique_ptr<Server> NewServer() {
    return std::make_unique<Server>(options_, [this](ServerLoop& loop) {
      protocols_.push_back(std::make_shared<Echo>(loop, ended_, fails_));
      return protocols_.back();
    });
  }
  static Socket Connect(const std::string& address, uint16_t port) {
    const Endpoint endpoint = ResolveEndpoint("test", address, port).value();
    Socket client(socket(endpoint.family(), SOCK_STREAM, 0));
    EXPECT_EQ(connect(client.descriptor(), endpoint.data(), endpoint.size()), 0);
    return client;
  }
  static Socket Connect(uint16_t port) { return Connect("127.0.0.1", port); }
  static std::string Ask(const Socket& client, std::string text) {
    if (send(client.descriptor(), text.data(), text.size(), MSG_NOSIGNAL) < 0) return "lost";
    const ssize_t got = recv(client.descriptor(), text.data(), text.size(), MSG_WAITALL);
    if (got <= 0) return "lost";
    return text;
  }

  ServerOptions options_;
  std::atomic<int> ended_{0};
  std::atomic<bool> fails_{false};
  std::vector<std::shared_ptr<Echo>> protocols_;
};

TEST_F(ServerTest, ServesOnAllItsLoopsAndStopsAtOnceWhenIdle) {
  const auto server = NewServer();
  ASSERT_TRUE(server->Start().ok());
  std::vector<Socket> clients;
  for (int i = 0; i < 10; ++i) clients.push_back(Connect(server->port()));
  for (const Socket& client : clients) EXPECT_EQ(Ask(client, "hello"), "hello");
  server->Stop(std::chrono::hours(1));  // nothing is being done: nothing is waited for
  EXPECT_EQ(ended_, 2);
  for (const Socket& client : clients) EXPECT_EQ(Ask(client, "hello"), "lost");
  server->Stop(milliseconds(0));
}

TEST_F(ServerTest, AStopLetsABusyConnectionFinish) {
  const auto server = NewServer();
  ASSERT_TRUE(server->Start().ok());
  const Socket busy = Connect(server->port()), idle = Connect(server->port());
  EXPECT_EQ(Ask(busy, "busy"), "busy");
  EXPECT_EQ(Ask(idle, "idle"), "idle");
  server->BeginStop();
  char byte = 0;
  EXPECT_EQ(recv(idle.descriptor(), &byte, 1, 0), 0);
  EXPECT_EQ(Ask(busy, "done"), "done");
  server->Stop(std::chrono::hours(1));
  EXPECT_EQ(ended_, 2);
}

TEST_F(ServerTest, AStopClosesWhatIsBusyForTooLong) {
  const auto server = NewServer();
  ASSERT_TRUE(server->Start().ok());
  const Socket busy = Connect(server->port());
  EXPECT_EQ(Ask(busy, "busy"), "busy");
  server->Stop(milliseconds(1));
  EXPECT_EQ(ended_, 2);
  EXPECT_EQ(Ask(busy, "busy"), "lost");
}

TEST_F(ServerTest, TakesHostNames) {
  options_.address = "localhost";
  options_.loops = 1;
  const auto server = NewServer();
  const base::Status status = server->Start();
  EXPECT_TRUE(status.ok()) << status.message();
  options_.address = "no such host";
  EXPECT_EQ(NewServer()->Start().code(), base::StatusCode::kInvalidArgument);
}

TEST_F(ServerTest, APortThatIsTakenIsRefused) {
  const auto first = NewServer();
  ASSERT_TRUE(first->Start().ok());
  options_.port = first->port();
  for (const int loops : {1, 2}) {
    options_.loops = loops;
    const base::Status status = NewServer()->Start();
    EXPECT_EQ(status.code(), base::StatusCode::kUnavailable);
    EXPECT_EQ(status.message(),
              "Socket '127.0.0.1:" + std::to_string(options_.port) + "' already in use ");
  }
}

TEST_F(ServerTest, AConnectionForWhichThereIsNoMemoryIsClosedAndTheNextOneServed) {
  options_.connection_limit = std::make_shared<ConnectionLimit>(1);
  options_.loops = 1;
  const auto server = NewServer();
  ASSERT_TRUE(server->Start().ok());
  fails_ = true;
  EXPECT_EQ(Ask(Connect(server->port()), "hello"), "lost");
  fails_ = false;
  EXPECT_EQ(Ask(Connect(server->port()), "hello"), "hello");
  // Each of the two before has ended, so there is room for a third one.
  EXPECT_EQ(Ask(Connect(server->port()), "hello"), "hello");
}

class UnixServerTest : public ServerTest {
 protected:
  UnixServerTest() {
    path_ = directory_->path() + "/s";
    options_.address = "unix:" + path_;
    options_.loops = 3;
  }
  Socket Connect() const { return ServerTest::Connect(options_.address, 0); }

  const std::unique_ptr<base::TemporaryDirectory> directory_ =
      base::TemporaryDirectory::Create().value();
  std::string path_;
};

TEST_F(UnixServerTest, ItsLoopsServeTheClientsInTurn) {
  const auto server = NewServer();
  const base::Status status = server->Start();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(server->port(), 0);
  std::vector<Socket> clients;
  for (int i = 0; i < 9; ++i) {
    clients.push_back(Connect());
    EXPECT_EQ(Ask(clients.back(), "hello"), "hello");
  }
  for (const auto& protocol : protocols_) EXPECT_EQ(protocol->connected, 3);
  server->Stop(std::chrono::hours(1));
  EXPECT_EQ(ended_, 3);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(UnixServerTest, AStopLetsABusyConnectionFinishAndFreesThePathAtOnce) {
  const auto server = NewServer();
  ASSERT_TRUE(server->Start().ok());
  const Socket busy = Connect();
  EXPECT_EQ(Ask(busy, "busy"), "busy");
  server->BeginStop();
  while (std::filesystem::exists(path_)) std::this_thread::yield();
  const auto next = NewServer();
  EXPECT_TRUE(next->Start().ok());
  EXPECT_EQ(Ask(busy, "done"), "done");
  server->Stop(std::chrono::hours(1));
  EXPECT_EQ(Ask(Connect(), "hello"), "hello");  // the file of the next server is still there
}

TEST_F(UnixServerTest, ASecondServerIsRefusedAndDisturbsNothing) {
  const auto first = NewServer();
  ASSERT_TRUE(first->Start().ok());
  EXPECT_EQ(NewServer()->Start().message(), "Socket 'unix:" + path_ + "' already in use ");
  EXPECT_EQ(Ask(Connect(), "hello"), "hello");
}

TEST_F(UnixServerTest, PlacesAreFreeAgainWhenClientsHaveGone) {
  options_.connection_limit = std::make_shared<ConnectionLimit>(1);
  const auto server = NewServer();
  ASSERT_TRUE(server->Start().ok());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Ask(Connect(), "hello"), "hello");
  fails_ = true;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Ask(Connect(), "hello"), "lost");
  fails_ = false;
  EXPECT_EQ(Ask(Connect(), "hello"), "hello");
}

}  // namespace
}  // namespace nereid::frontend::net
