// SPDX-License-Identifier: Apache-2.0
#include "tracing/http_transport.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <semaphore>
#include <thread>

namespace nereid::tracing {
namespace {

using ::testing::HasSubstr;

/// A receiver that answers one connection with a fixed text, or not at all.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer) : answer_(std::move(answer)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address_), size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address_), &size), 0);
    thread_ = std::thread([this] { Serve(); });
  }
  ~OneAnswer() {
    Join();
    ::close(listener_);
  }
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)) + "/v1/traces";
  }
  /// Returns the request after the client has closed its connection.
  const std::string& Join() {
    if (thread_.joinable()) thread_.join();
    return request_;
  }
  std::binary_semaphore received{0};

 private:
  void Serve() {
    const int peer = ::accept(listener_, nullptr, nullptr);
    char bytes[4096];
    while (!request_.ends_with("the message")) {
      const ssize_t count = ::recv(peer, bytes, sizeof(bytes), 0);
      if (count <= 0) break;
      request_.append(bytes, static_cast<size_t>(count));
    }
    received.release();
    (void)!::send(peer, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    while (::recv(peer, bytes, sizeof(bytes), 0) > 0) {
    }
    ::close(peer);
  }

  const std::string answer_;
  int listener_;
  sockaddr_in address_{};
  std::string request_;
  std::thread thread_;
};

class HttpTransportTest : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("no_proxy", "*", 1); }
  static TransportReply Ask(const std::string& url) {
    auto transport = HttpTransport::Create({.url = url, .headers = {{"X-Key", "secret"}}});
    EXPECT_TRUE(transport.ok()) << transport.status().message();
    return (*transport)->Send("the message");
  }
};

TEST_F(HttpTransportTest, SendsAMessageAndReadsTheAnswer) {
  OneAnswer receiver("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  const TransportReply reply = Ask(receiver.url());
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "ok");
  EXPECT_EQ(reply.retry_after_secs, 0u);
  const std::string& request = receiver.Join();
  EXPECT_TRUE(request.starts_with("POST /v1/traces HTTP/1.1\r\n")) << request;
  EXPECT_THAT(request, HasSubstr("\r\nContent-Type: application/x-protobuf\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nContent-Encoding: gzip\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nContent-Length: 11\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nX-Key: secret\r\n"));
  EXPECT_EQ(request.find("Expect"), request.npos);
}

TEST_F(HttpTransportTest, ReadsRetryAfter) {
  OneAnswer receiver(
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 17\r\nContent-Length: 0\r\n\r\n");
  const TransportReply reply = Ask(receiver.url());
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.retry_after_secs, 17u);
}

TEST_F(HttpTransportTest, FollowsNoRedirection) {
  OneAnswer receiver(
      "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(Ask(receiver.url()).status, 302);
}

TEST_F(HttpTransportTest, KeepsTheBeginningOfALongAnswer) {
  OneAnswer receiver("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" +
                     std::string(200'000, 'x'));
  const TransportReply reply = Ask(receiver.url());
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body.size(), size_t{64} << 10);
}

TEST_F(HttpTransportTest, SaysWhyThereIsNoAnswer) {
  std::string closed;
  {
    OneAnswer receiver("not HTTP at all\r\n\r\n");
    closed = receiver.url();
    const TransportReply reply = Ask(receiver.url());
    EXPECT_EQ(reply.status, 0);
    EXPECT_NE(reply.failure, "");
  }
  EXPECT_EQ(Ask(closed).status, 0);
  EXPECT_NE(Ask(closed).failure, "");
}

TEST_F(HttpTransportTest, AbortEndsAWait) {
  OneAnswer receiver("");
  auto transport = HttpTransport::Create({.url = receiver.url()});
  ASSERT_TRUE(transport.ok());
  std::thread sender([&] {
    EXPECT_EQ((*transport)->Send("the message").status, 0);
    EXPECT_EQ((*transport)->Send("the message").status, 0) << "later messages are not sent";
  });
  receiver.received.acquire();
  (*transport)->Abort();
  sender.join();
}

TEST(UrlWithoutUser, HidesNamesAndPasswords) {
  EXPECT_EQ(UrlWithoutUser("http://u:p@h:1/x"), "http://h:1/x");
  EXPECT_EQ(UrlWithoutUser("u:p@h"), "h");
  EXPECT_EQ(UrlWithoutUser("https://u:p@q@h?x=a@b"), "https://h?x=a@b");
  EXPECT_EQ(UrlWithoutUser("http://h/a@b"), "http://h/a@b");
  EXPECT_EQ(UrlWithoutUser(""), "");
}

TEST_F(HttpTransportTest, RefusesATargetThatCannotBeUsed) {
  for (const char* url : {"", "ftp://host/x", "http://", "http://host:port/", "a b"}) {
    const auto transport = HttpTransport::Create({.url = url});
    EXPECT_EQ(transport.status().code(), base::StatusCode::kInvalidArgument) << url;
  }
  const auto split = HttpTransport::Create({.url = "http://h", .headers = {{"a", "b\r\nc: d"}}});
  EXPECT_EQ(split.status().code(), base::StatusCode::kInvalidArgument);
  EXPECT_TRUE(HttpTransport::Create({.url = "localhost:4318/v1/traces"}).ok());
}

}  // namespace
}  // namespace nereid::tracing
