// SPDX-License-Identifier: Apache-2.0
#include "curl/curl_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "curl/testing/text_server.h"

namespace nereid::curl {
namespace {

using base::Status;
using base::StatusCode;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TextServer;

std::string Ok(const std::string& body, const std::string& fields = "") {
  return "HTTP/1.1 200 OK\r\n" + fields + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

class CurlClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("no_proxy", "*", 1);
    auto client = CurlClient::Create();
    ASSERT_TRUE(client.ok()) << client.status().message();
    client_ = std::move(*client);
  }

  std::unique_ptr<CurlClient> client_;
};

TEST_F(CurlClientTest, SendsARequestAndReadsTheResponse) {
  TextServer server(Ok("content", "ETag: \"e\"\r\n"));
  const auto response = client_->Send({.url = server.url("/a//b/../c%20d?x=1"),
                                       .fields = {{"X-Key", "secret"}, {"X-Empty", ""}},
                                       .range = ByteRange{10, 5}});
  ASSERT_TRUE(response.ok()) << response.status().message();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "content");
  EXPECT_EQ(response->field("ETag"), "\"e\"");
  const std::string request = server.Join().at(0);
  EXPECT_TRUE(request.starts_with("GET /a//b/../c%20d?x=1 HTTP/1.1\r\n")) << request;
  EXPECT_THAT(request, HasSubstr("\r\nX-Key: secret\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nX-Empty:\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nRange: bytes=10-14\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nUser-Agent: nereid\r\n"));
  EXPECT_THAT(request, Not(HasSubstr("Content-Type")));
}

TEST_F(CurlClientTest, SendsBodies) {
  TextServer server(Ok("1"), Ok("2"), Ok(""), Ok("4"));
  EXPECT_TRUE(client_
                  ->Send({.method = "POST",
                          .url = server.url("/p"),
                          .fields = {{"Content-Type", "application/json"}},
                          .body = std::string("{\0}", 3)})
                  .ok());
  EXPECT_TRUE(client_->Send({.method = "PUT", .url = server.url("/p")}).ok());
  EXPECT_TRUE(client_->Send({.method = "DELETE", .url = server.url("/p")}).ok());
  EXPECT_TRUE(client_->Send({.url = server.url("/after")}).ok());
  const std::vector<std::string> requests = server.Join();
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_TRUE(requests[0].starts_with("POST /p HTTP/1.1\r\n")) << requests[0];
  EXPECT_TRUE(requests[0].ends_with(std::string("\r\n\r\n{\0}", 7))) << requests[0];
  EXPECT_THAT(requests[0], HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_TRUE(requests[1].starts_with("PUT /p HTTP/1.1\r\n")) << requests[1];
  EXPECT_THAT(requests[1], HasSubstr("\r\nContent-Length: 0\r\n"));
  EXPECT_THAT(requests[1], Not(HasSubstr("Content-Type")));
  EXPECT_TRUE(requests[2].starts_with("DELETE /p HTTP/1.1\r\n")) << requests[2];
  EXPECT_TRUE(requests[3].starts_with("GET /after HTTP/1.1\r\n")) << requests[3];
  EXPECT_EQ(server.connections(), 1) << "one connection serves requests that follow each other";
}

TEST_F(CurlClientTest, ReadsAHeadWithoutABody) {
  TextServer server("HTTP/1.1 200 OK\r\nContent-Length: 500\r\nConnection: close\r\n\r\n");
  int heads = 0;
  const auto response =
      client_->Send({.method = "HEAD", .url = server.url("/")},
                    {.head = [&](const HttpResponse&) { return ++heads, Status(); }});
  ASSERT_TRUE(response.ok()) << response.status().message();
  EXPECT_EQ(response->field("content-length"), "500");
  EXPECT_EQ(heads, 1);
}

TEST_F(CurlClientTest, StreamsOnlySuccessfulBodies) {
  const std::string content(1 << 20, 'x');
  TextServer server(Ok(content, "Connection: close\r\n"),
                    "HTTP/1.1 503 Slow Down\r\nContent-Length: 4\r\nConnection: close\r\n\r\nslow");
  std::string got;
  bool head_first = false;
  const HttpReceiver receiver = {.head =
                                     [&](const HttpResponse& head) {
                                       head_first = got.empty() && head.status == 200;
                                       return Status();
                                     },
                                 .body =
                                     [&](std::string_view piece) {
                                       got += piece;
                                       return Status();
                                     }};
  const auto good = client_->Send({.url = server.url("/"), .max_body = 10}, receiver);
  ASSERT_TRUE(good.ok()) << good.status().message();
  EXPECT_EQ(got, content);
  EXPECT_EQ(good->body, "");
  EXPECT_TRUE(head_first);
  got.clear();
  const auto bad = client_->Send({.url = server.url("/")}, receiver);
  ASSERT_TRUE(bad.ok());
  EXPECT_EQ(bad->status, 503);
  EXPECT_EQ(bad->body, "slow");
  EXPECT_EQ(got, "");
}

TEST_F(CurlClientTest, EndsWhenAReceiverFails) {
  TextServer server(Ok(std::string(100'000, 'x')), Ok(std::string(100'000, 'x')));
  const auto full = client_->Send({.url = server.url("/")}, {.body = [](std::string_view) {
                                    return Status::Internal("the disk is full");
                                  }});
  EXPECT_EQ(full.status().message(), "the disk is full");
  int pieces = 0;
  const auto refused = client_->Send(
      {.url = server.url("/")},
      {.head = [](const HttpResponse&) { return Status::AlreadyExists("another version"); },
       .body = [&](std::string_view) { return ++pieces, Status(); }});
  EXPECT_EQ(refused.status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(pieces, 0);
}

TEST_F(CurlClientTest, TurnsExceptionsOfReceiversIntoErrors) {
  TextServer server(Ok("content"));
  const auto result =
      client_->Send({.url = server.url("/")},
                    {.body = [](std::string_view) -> Status { throw std::bad_alloc(); }});
  EXPECT_EQ(result.status().code(), StatusCode::kUnavailable);
}

TEST_F(CurlClientTest, BoundsWhatItKeeps) {
  TextServer server(
      Ok(std::string(100'000, 'x')),
      "HTTP/1.1 404 No\r\nContent-Length: 100000\r\nConnection: close\r\n\r\n" +
          std::string(100'000, 'y'),
      "HTTP/1.1 200 OK\r\nConnection: close\r\nA: " + std::string(90'000, 'b') + "\r\n\r\n");
  EXPECT_EQ(client_->Send({.url = server.url("/"), .max_body = 1000}).status().code(),
            StatusCode::kInternal);
  const auto error = client_->Send({.url = server.url("/"), .max_body = 1000});
  ASSERT_TRUE(error.ok()) << error.status().message();
  EXPECT_EQ(error->status, 404);
  EXPECT_EQ(error->body, std::string(1000, 'y'));
  EXPECT_EQ(client_->Send({.url = server.url("/")}).status().code(), StatusCode::kInternal);
}

TEST_F(CurlClientTest, FollowsARedirectionOnlyIfAsked) {
  const std::string away =
      "HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 4\r\n\r\naway";
  TextServer server(away, away, Ok("arrived"));
  EXPECT_EQ(client_->Send({.url = server.url("/")})->status, 302);
  const auto arrived = client_->Send({.url = server.url("/"), .follow_redirects = true});
  ASSERT_TRUE(arrived.ok());
  EXPECT_EQ(arrived->body, "arrived");
  EXPECT_EQ(arrived->field("location"), "");
}

TEST_F(CurlClientTest, ReportsWhatIsTemporary) {
  std::string closed;
  {
    TextServer server("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nshort");
    closed = server.url("/path?sig=secret");
    const auto cut = client_->Send({.url = closed});
    EXPECT_EQ(cut.status().code(), StatusCode::kUnavailable);
  }
  const auto refused = client_->Send({.url = closed});
  EXPECT_EQ(refused.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(refused.status().message(), HasSubstr("/path: "));
  EXPECT_THAT(refused.status().message(), Not(HasSubstr("secret")));
}

TEST_F(CurlClientTest, ReportsAnAnswerThatIsNotHttp) {
  TextServer server("not HTTP at all, Connection: close\r\n\r\n");
  EXPECT_EQ(client_->Send({.url = server.url("/")}).status().code(), StatusCode::kInternal);
}

TEST_F(CurlClientTest, RefusesAUrlThatCannotBeUsed) {
  for (const char* url : {"http://", "http://host:port/", "ftp://host/", "http://a b/"}) {
    EXPECT_EQ(client_->Send({.url = url}).status().code(), StatusCode::kInvalidArgument) << url;
  }
}

TEST_F(CurlClientTest, CancellationEndsAWait) {
  TextServer server("");
  std::atomic<bool> cancelled = false;
  std::thread sender([&] {
    const auto result =
        client_->Send({.url = server.url("/")}, {.is_cancelled = [&] { return cancelled.load(); }});
    EXPECT_EQ(result.status().code(), StatusCode::kCancelled);
  });
  server.received.acquire();
  cancelled = true;
  sender.join();
}

TEST_F(CurlClientTest, AStallEndsTheRequest) {
  TextServer server("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "");
  HttpTimeouts timeouts;
  timeouts.stall_secs = 1;
  const auto stalled = client_->Send({.url = server.url("/"), .timeouts = timeouts});
  EXPECT_EQ(stalled.status().code(), StatusCode::kUnavailable);
  timeouts = {.connect_ms = 1000, .stall_secs = 0, .total_ms = 50};
  const auto late = client_->Send({.url = server.url("/"), .timeouts = timeouts});
  EXPECT_EQ(late.status().code(), StatusCode::kUnavailable);
}

TEST_F(CurlClientTest, UsesAProxyUnlessTold) {
  ::unsetenv("no_proxy");
  TextServer proxy(Ok("by proxy", "Connection: close\r\n"));
  TextServer server(Ok("directly", "Connection: close\r\n"));
  ::setenv("http_proxy", proxy.url("").c_str(), 1);
  EXPECT_EQ(client_->Send({.url = server.url("/x")})->body, "by proxy");
  EXPECT_EQ(client_->Send({.url = server.url("/x"), .use_proxy = false})->body, "directly");
  ::unsetenv("http_proxy");
  EXPECT_TRUE(proxy.Join().at(0).starts_with("GET http://127.0.0.1:"));
}

TEST(CurlClient, NeedsAReadableCertificateFile) {
  const auto client = CurlClient::Create({.certificate_file = "/does/not/exist.pem"});
  EXPECT_EQ(client.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(client.status().message(), HasSubstr("/does/not/exist.pem"));
}

}  // namespace
}  // namespace nereid::curl
