// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/metrics_handler.h"

#include <gtest/gtest.h>

#include <future>
#include <string>

#include "api/field_filter.h"
#include "api/testing/role_tokens.h"
#include "frontend/http/http_server.h"
#include "frontend/http/testing/raw_client.h"

namespace nereid::frontend::metrics {
namespace {

TEST(MetricsHandler, Answers) {
  http::HttpServerOptions options;
  options.address = "127.0.0.1";
  options.port = 0;
  options.threads = 1;
  int calls = 0;
  http::HttpServer server(options, MakeMetricsHandler([&](telemetry::Exposition) {
                            ++calls;
                            return std::string("nv_x 1\n");
                          }));
  ASSERT_TRUE(server.Start().ok());
  http::testing::RawClient client(server.port());
  client.Send(http::testing::Get("/metrics") + http::testing::Get("/metrics/") +
              http::testing::Get("/other") + http::testing::Post("/metrics", ""));
  const auto first = client.Receive();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(first->body, "nv_x 1\n");
  EXPECT_EQ(first->Field("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(client.Receive()->body, "nv_x 1\n");
  const auto other = client.Receive();
  ASSERT_TRUE(other);
  EXPECT_EQ(other->status, 200);
  EXPECT_EQ(other->body, "");
  const auto post = client.Receive();
  ASSERT_TRUE(post);
  EXPECT_EQ(post->status, 405);
  server.Stop(std::chrono::milliseconds{10'000});
  EXPECT_EQ(calls, 2);
}

TEST(MetricsHandler, AsksForTheRole) {
  const api::testing::RoleTokens tokens;
  const auto gate =
      std::make_shared<const api::AccessGate>(api::AccessRules{.file = tokens.file()});
  http::HttpServerOptions options;
  options.address = "127.0.0.1";
  options.port = 0;
  options.threads = 1;
  options.kept_fields = api::MakeFieldFilter(gate, nullptr);
  http::HttpServer server(
      options,
      MakeMetricsHandler([](telemetry::Exposition) { return std::string("nv_x 1\n"); }, gate));
  ASSERT_TRUE(server.Start().ok());
  http::testing::RawClient client(server.port());
  const auto ask = [&](const std::string& fields, const char* path = "/metrics") {
    client.Send(http::testing::Get(path, fields));
    return client.Receive().value_or(http::testing::RawResponse{});
  };
  const auto nobody = ask("");
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(nobody.Field("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(ask("", "/metrics/").status, 401);
  EXPECT_EQ(ask("Authorization: " + tokens.Bearer("infer") + "\r\n").status, 403);
  EXPECT_EQ(ask("Authorization: " + tokens.Bearer("observe") + "\r\n").body, "nv_x 1\n");
  EXPECT_EQ(ask("Authorization: " + tokens.Bearer("manage") + "\r\n").status, 200);
  EXPECT_EQ(ask("", "/other").body, "");
  server.Stop(std::chrono::milliseconds{10'000});
}

TEST(MetricsHandler, TheClientChoosesTheFormat) {
  http::HttpServerOptions options;
  options.address = "127.0.0.1";
  options.port = 0;
  options.threads = 1;
  http::HttpServer server(
      options, MakeMetricsHandler([](telemetry::Exposition exposition) {
        return std::string(exposition == telemetry::Exposition::kOpenMetrics ? "open\n" : "text\n");
      }));
  ASSERT_TRUE(server.Start().ok());
  http::testing::RawClient client(server.port());
  client.Send(
      "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text\r\n\r\n"
      "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n");
  const auto open = client.Receive();
  ASSERT_TRUE(open);
  EXPECT_EQ(open->body, "open\n");
  EXPECT_EQ(open->Field("Content-Type"),
            "application/openmetrics-text; version=1.0.0; charset=utf-8");
  const auto text = client.Receive();
  ASSERT_TRUE(text);
  EXPECT_EQ(text->body, "text\n");
  EXPECT_EQ(text->Field("Content-Type"), "text/plain; charset=utf-8");
}

TEST(MetricsHandler, ALongPageDelaysNoOtherClient) {
  http::HttpServerOptions options;
  options.address = "127.0.0.1";
  options.port = 0;
  options.threads = 1;
  std::promise<void> asked, answer;
  http::HttpServer server(options, MakeMetricsHandler([&](telemetry::Exposition) {
                            asked.set_value();
                            answer.get_future().wait();
                            return std::string("nv_x 1\n");
                          }));
  ASSERT_TRUE(server.Start().ok());
  http::testing::RawClient slow(server.port());
  slow.Send(http::testing::Get("/metrics"));
  asked.get_future().wait();
  http::testing::RawClient other(server.port());
  other.Send(http::testing::Get("/other"));
  EXPECT_EQ(other.Receive()->status, 200);
  answer.set_value();
  EXPECT_EQ(slow.Receive()->body, "nv_x 1\n");
  server.Stop(std::chrono::milliseconds{10'000});
}

}  // namespace
}  // namespace nereid::frontend::metrics
