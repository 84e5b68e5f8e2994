// SPDX-License-Identifier: Apache-2.0
#include "tracing/http_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "curl/testing/text_server.h"

namespace nereid::tracing {
namespace {

using curl::testing::TextServer;
using ::testing::HasSubstr;

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
  TextServer receiver("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  const TransportReply reply = Ask(receiver.url("/v1/traces"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "ok");
  EXPECT_EQ(reply.retry_after_secs, 0u);
  const std::string request = receiver.Join().at(0);
  EXPECT_TRUE(request.starts_with("POST /v1/traces HTTP/1.1\r\n")) << request;
  EXPECT_THAT(request, HasSubstr("\r\nContent-Type: application/x-protobuf\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nContent-Encoding: gzip\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nContent-Length: 11\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nX-Key: secret\r\n"));
  EXPECT_EQ(request.find("Expect"), request.npos);
}

TEST_F(HttpTransportTest, ReadsRetryAfter) {
  TextServer receiver(
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 17\r\nContent-Length: 0\r\n\r\n");
  const TransportReply reply = Ask(receiver.url("/v1/traces"));
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.retry_after_secs, 17u);
}

TEST_F(HttpTransportTest, FollowsNoRedirection) {
  TextServer receiver(
      "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(Ask(receiver.url("/v1/traces")).status, 302);
}

TEST_F(HttpTransportTest, KeepsTheBeginningOfALongAnswer) {
  TextServer receiver("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" +
                      std::string(200'000, 'x'));
  const TransportReply reply = Ask(receiver.url("/v1/traces"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body.size(), size_t{64} << 10);
}

TEST_F(HttpTransportTest, SaysWhyThereIsNoAnswer) {
  std::string closed;
  {
    TextServer receiver("not HTTP at all\r\n\r\n");
    closed = receiver.url("/v1/traces");
    const TransportReply reply = Ask(receiver.url("/v1/traces"));
    EXPECT_EQ(reply.status, 0);
    EXPECT_NE(reply.failure, "");
  }
  EXPECT_EQ(Ask(closed).status, 0);
  EXPECT_NE(Ask(closed).failure, "");
}

TEST_F(HttpTransportTest, AbortEndsAWait) {
  TextServer receiver("");
  auto transport = HttpTransport::Create({.url = receiver.url("/v1/traces")});
  ASSERT_TRUE(transport.ok());
  std::thread sender([&] {
    EXPECT_EQ((*transport)->Send("the message").status, 0);
    EXPECT_EQ((*transport)->Send("the message").status, 0) << "later messages are not sent";
  });
  receiver.received.acquire();
  (*transport)->Abort();
  sender.join();
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
