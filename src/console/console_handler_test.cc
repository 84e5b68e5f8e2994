// SPDX-License-Identifier: Apache-2.0
#include "console/console_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "api/field_filter.h"
#include "api/testing/role_tokens.h"
#include "base/log.h"
#include "console/console_route.h"
#include "console/page_files.h"
#include "frontend/http/testing/server_fixture.h"

namespace nereid::console {
namespace {

using frontend::http::testing::RawClient;
using frontend::http::testing::RawResponse;
using ::testing::HasSubstr;

/// Returns a request as the console's own page sends it.
std::string Request(const std::string& method, const std::string& path,
                    const std::string& fields = "", const std::string& body = "") {
  return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + fields +
         (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") + "\r\n" +
         body;
}
std::string Get(const std::string& path, const std::string& fields = "") {
  return Request("GET", path, fields);
}

class ConsoleHandlerTest : public frontend::http::testing::ServerFixture {
 protected:
  ConsoleHandlerTest() : ServerFixture(1) {
    base::Log::Instance().KeepTail();
    telemetry::ModelStatistics echo;
    echo.name = "echo";
    echo.version = "1";
    echo.batches_closed = {{"single", 3}, {"preferred", 0}};
    service_.statistics = {echo};
    source_.core_shares = [] {
      return std::vector<CoreShare>{{"echo", 1, 2, 4, "0-3", "plan"}, {"other", 1, 9, 9, "", ""}};
    };
    source_.explain = [](const std::string& model) -> base::Result<std::string> {
      return "{\"model\":\"" + model + "\"}";
    };
  }

  void Start() {
    console_options_.kserve.gate = kserve_.gate;
    options_.kept_fields = api::MakeFieldFilter(
        kserve_.gate, nullptr, {std::string(kHostField), std::string(kIfNoneMatchField)});
    options_.keep_trace_headers = true;
    options_.server_fields = BrowserRules();
    console_ = MakeConsole(console_options_, service_, source_);
    ServerFixture::Start(console_);
  }
  void TearDown() override {
    if (console_ != nullptr) console_->EndStreams();
    ServerFixture::TearDown();
  }

  ConsoleOptions console_options_;
  ConsoleSource source_;
  std::shared_ptr<Console> console_;
};

TEST_F(ConsoleHandlerTest, ServesThePageAndAsksBrowsersToBeCareful) {
  Start();
  const RawResponse page = Ask(Get("/"));
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("<main id=\"content\""));
  EXPECT_EQ(page.Field("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.Field("Cache-Control"), "no-cache");
  EXPECT_THAT(page.Field("Content-Security-Policy"), HasSubstr("script-src 'self';"));
  EXPECT_EQ(page.Field("X-Content-Type-Options"), "nosniff");
  const RawResponse again = Ask(Get("/", "If-None-Match: " + page.Field("ETag") + "\r\n"));
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(Ask(Get("/", "If-None-Match: \"other\"\r\n")).status, 200);
  EXPECT_EQ(Ask(Get("/console/files/main.js")).Field("Content-Type"),
            "text/javascript; charset=utf-8");
  EXPECT_EQ(Ask(Get("/console/files/../main.js")).status, 404);
  EXPECT_EQ(Ask(Get("/other")).status, 404);
  EXPECT_EQ(Ask(Request("POST", "/", "", "x")).status, 405);
}

TEST_F(ConsoleHandlerTest, ServesItsDocuments) {
  Start();
  EXPECT_THAT(Ask(Get("/console/v1/session")).body,
              HasSubstr(R"("roles":["infer","observe","manage"],"guarded":false)"));
  EXPECT_THAT(Ask(Get("/console/v1/series")).body, HasSubstr(R"("series":[])"));
  EXPECT_THAT(Ask(Get("/console/v1/models/echo/series")).body, HasSubstr(R"("fields":["time_ms")"));
  const RawResponse state = Ask(Get("/console/v1/models/echo/state"));
  EXPECT_THAT(state.body, HasSubstr(R"("closed":[{"reason":"single","text":"single request",)"
                                    R"("count":3}])"));
  EXPECT_THAT(state.body, HasSubstr(R"("cores":[{"instances":2,"threads":4,"cpus":"0-3",)"
                                    R"("set_by":"plan"}])"));
  EXPECT_EQ(state.Field("Cache-Control"), "no-store");
  EXPECT_EQ(Ask(Get("/console/v1/models/a%20b/explain")).body, R"({"model":"a b"})");
  EXPECT_EQ(Ask(Get("/console/v1/models/a%2/explain")).status, 400);
  EXPECT_THAT(Ask(Get("/console/v1/traces")).body, HasSubstr(R"("traces":[])"));
  EXPECT_EQ(Ask(Get("/console/v1/traces/0123")).status, 404);
  LOG_ERROR << "a line for the console";
  EXPECT_THAT(Ask(Get("/console/v1/log")).body, HasSubstr("a line for the console"));
  EXPECT_THAT(Ask(Get("/console/v1/log?after=1000000")).body, HasSubstr(R"("lines":[])"));
}

TEST_F(ConsoleHandlerTest, ForwardsThePathsOfHttp) {
  using frontend::http::testing::kInfer;
  using frontend::http::testing::kJson;
  using frontend::http::testing::kJsonAnswer;
  Start();
  EXPECT_EQ(Ask(Request("POST", kInfer, "", kJson)).body, kJsonAnswer);
  EXPECT_EQ(Ask(Get("/v2/models/echo")).status, 200);
  EXPECT_EQ(Ask(Get("/v2/unknown")).status, 404);
  EXPECT_EQ(Ask(Get("/v1/models/echo")).status, 404);
}

TEST_F(ConsoleHandlerTest, TracesARequestThatBringsATraceContext) {
  using frontend::http::testing::kInfer;
  using frontend::http::testing::kJson;
  Start();
  const std::string id = "0af7651916cd43dd8448eb211c80319c";
  EXPECT_EQ(
      Ask(Request("POST", kInfer, "traceparent: 00-" + id + "-b7ad6b7169203331-01\r\n", kJson))
          .status,
      200);
  EXPECT_EQ(Ask(Request("POST", kInfer, "", kJson)).status, 200);
  // The trace ends when the reply is sent, which may be after it has come.
  RawResponse trace;
  do {
    trace = Ask(Get("/console/v1/traces/" + id));
  } while (trace.status == 404);
  EXPECT_THAT(trace.body, HasSubstr("\"id\":\"" + id + "\""));
  EXPECT_THAT(trace.body, HasSubstr("InferRequest"));
  const std::string list = Ask(Get("/console/v1/traces")).body;
  EXPECT_EQ(list.find("\"id\""), list.rfind("\"id\""));
}

TEST_F(ConsoleHandlerTest, RefusesThePagesOfOthers) {
  Start();
  const std::string load = "/v2/repository/models/echo/load";
  for (const char* path : {"/", "/console/v1/log", "/v2/models/echo"}) {
    EXPECT_EQ(Ask(Get(path, "Origin: http://evil.example\r\n")).status, 403) << path;
  }
  EXPECT_EQ(Ask(Request("POST", load, "Origin: http://evil.example\r\n", "{}")).status, 403);
  EXPECT_EQ(Ask(Request("POST", load, "Origin: http://localhost\r\n", "{}")).status, 200);
  EXPECT_EQ(Ask("GET /v2 HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 403);
}

TEST_F(ConsoleHandlerTest, EventsBeginAtOnceAndEndWithTheConsole) {
  Start();
  RawClient viewer(server_->port());
  viewer.Send(Get("/console/v1/events"));
  const RawResponse head = viewer.ReceiveHead();
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Field("Content-Type"), "text/event-stream; charset=utf-8");
  EXPECT_EQ(viewer.ReceiveChunk(), "event: hello\ndata: {}\n\n");
  console_->EndStreams();
  EXPECT_EQ(viewer.ReceiveChunk(), "");
  EXPECT_EQ(Ask(Get("/console/v1/log/events")).status, 503);
}

TEST_F(ConsoleHandlerTest, BodiesAreRefusedBeforeTheyAreReceived) {
  Start();
  RawClient client(server_->port());
  client.Send(
      "POST /console/v1/log HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n");
  EXPECT_EQ(client.ReceiveHead().status, 413);
}

// Every route and role, by the table: deny by default.
TEST_F(ConsoleHandlerTest, EveryRouteAndRole) {
  const api::testing::RoleTokens tokens;
  kserve_.gate = std::make_shared<const api::AccessGate>(api::AccessRules{.file = tokens.file()});
  console_options_.is_guarded = true;
  Start();
  const auto status = [&](const std::string& path, const std::string& fields) {
    RawClient client(server_->port());
    client.Send(Get(path, fields));
    return client.ReceiveHead().status;
  };
  for (const ConsoleRoute& route : AllConsoleRoutes()) {
    const std::string path =
        route.endpoint == ConsoleEndpoint::kPage ? "/" : std::string(route.form);
    const api::OperationFacts& facts = api::FactsOf(route.operation);
    EXPECT_EQ(status(path, "") == 401, !facts.is_public) << path;
    EXPECT_EQ(status(path, "Authorization: Bearer wrong.wrong\r\n") == 401, !facts.is_public);
    for (const api::Role role : {api::Role::kInfer, api::Role::kObserve, api::Role::kManage}) {
      const std::string bearer = tokens.Bearer(api::RoleWords({role}));
      const int got = status(path, "Authorization: " + bearer + "\r\n");
      EXPECT_NE(got, 401) << path;
      EXPECT_EQ(got != 403, facts.is_public || facts.roles.Has(role))
          << path << " as " << api::RoleWords({role});
    }
  }
  EXPECT_THAT(
      Ask(Get("/console/v1/session", "Authorization: " + tokens.Bearer("observe") + "\r\n")).body,
      HasSubstr(R"("roles":["observe"],"guarded":true)"));
  EXPECT_EQ(status("/v2/models/echo", ""), 401);
  // With tokens a server may have a name.
  EXPECT_EQ(Ask("GET / HTTP/1.1\r\nHost: models.example\r\n\r\n").status, 200);
}

}  // namespace
}  // namespace nereid::console
