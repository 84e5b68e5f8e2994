// SPDX-License-Identifier: Apache-2.0
// The tools that ask a server, against a fake one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/tools/testing/golden.h"
#include "app/tools/tool.h"
#include "base/temporary_directory.h"
#include "curl/testing/fake_http_client.h"

namespace nereid::app::tools {
namespace {

using curl::HttpRequest;
using curl::testing::FakeHttpClient;
using curl::testing::FakeReply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kBase[] = "http://localhost:8000";
constexpr uint64_t kSecondNs = 1'000'000'000;

FakeReply Reply(std::string body, int status = 200) {
  return {.response = {.status = status, .body = std::move(body)}};
}

/// A clock that goes on by `step_ns` with each look at it.
class TickingClock final : public base::Clock {
 public:
  uint64_t NowNs() const override { return now_ns_ += step_ns; }
  uint64_t WallMs() const override { return now_ns_ / 1'000'000; }
  void Advance(uint64_t ns) { now_ns_ += ns; }

  uint64_t step_ns = 0;

 private:
  mutable uint64_t now_ns_ = 1;
};

/// A server that is a table of replies by "METHOD path".
class RemoteToolsTest : public ::testing::Test {
 protected:
  RemoteToolsTest() {
    context_.clock = &clock_;
    context_.environment = [this](const char* name) -> const char* {
      const auto found = environment_.find(name);
      return found == environment_.end() ? nullptr : found->second.c_str();
    };
    context_.progress = [this](const std::string& line) { progress_.push_back(line); };
    context_.pause = [this](std::chrono::milliseconds time) {
      clock_.Advance(static_cast<uint64_t>(time.count()) * 1'000'000);
    };
    context_.make_client =
        [this](const std::string& ca_file) -> base::Result<std::unique_ptr<curl::HttpClient>> {
      ca_file_ = ca_file;
      return std::unique_ptr<curl::HttpClient>(std::make_unique<FakeHttpClient>(
          [this](const HttpRequest& request) { return Answer(request); }, /*piece=*/1));
    };
  }

  ToolResult Run(const char* tool, std::vector<std::string> words) {
    return FindTool(tool)->run(words, context_);
  }
  static std::string Golden(const char* name) {
    return SourceDirectory() + "/src/app/tools/golden/remote/" + name;
  }
  void SetNereid() {
    replies_["POST /v2/repository/index"] =
        Reply(R"([{"name":"resnet","version":"10","state":"READY"},)"
              R"({"name":"resnet","version":"2","state":"UNAVAILABLE","reason":"unloaded"},)"
              R"({"name":"bad\u001b[2J\nname","version":"1","state":"UNAVAILABLE",)"
              R"("reason":"Internal: line 1\nline 2"},{"name":"asleep"}])");
    replies_["GET /v2/models/stats"] =
        Reply(R"({"model_stats":[{"name":"resnet","version":"10","inference_count":12345,)"
              R"("memory_usage":[{"type":"CPU","id":0,"byte_size":104857600}]}]})");
    replies_["GET /v2"] =
        Reply(R"({"name":"triton","version":"2.51.0","extensions":["classification","trace"]})");
    replies_["GET /v2/health/live?reason=true"] = Reply("");
    replies_["GET /v2/health/ready?reason=true"] =
        Reply(R"({"ready":false,"reasons":[{"cause":"draining","text":"the server drains"},)"
              R"({"cause":"model","model":"m\u202e","version":"1","state":"UNAVAILABLE",)"
              R"("text":"no\u0007 file"}],"omitted":0})",
              400);
  }

  FakeReply Answer(const HttpRequest& request) {
    requests_.push_back(request);
    if (!request.url.starts_with(base_)) return {.failure = base::Status::Unavailable("nobody")};
    const std::string key = request.method + " " + request.url.substr(base_.size());
    if (on_request_) on_request_(key);
    const auto found = replies_.find(key);
    return found == replies_.end() ? Reply(R"({"error":"Not Found"})", 404) : found->second;
  }

  TickingClock clock_;
  ToolContext context_;
  std::map<std::string, std::string> environment_;
  std::map<std::string, FakeReply> replies_;
  std::function<void(const std::string& key)> on_request_;
  std::string base_ = kBase;
  std::vector<HttpRequest> requests_;
  std::vector<std::string> progress_;
  std::string ca_file_;
};

TEST_F(RemoteToolsTest, Models) {
  SetNereid();
  const ToolResult text = Run("models", {});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_EQ(text.errors, "");
  ExpectGolden(Golden("models.txt"), text.out);
  ExpectGolden(Golden("models.json"), Run("models", {"--format=json"}).out);
}

TEST_F(RemoteToolsTest, ModelsOfAServerWithoutNumbers) {
  SetNereid();
  replies_.erase("GET /v2/models/stats");
  ExpectGolden(Golden("models_without_numbers.txt"), Run("models", {}).out);
  replies_["GET /v2/models/stats"] = Reply("<html>");
  ExpectGolden(Golden("models_without_numbers.txt"), Run("models", {}).out);
}

TEST_F(RemoteToolsTest, SomeModels) {
  SetNereid();
  EXPECT_EQ(Run("models", {"resnet", "--ready"}).out,
            "MODEL   VERSION  STATE  MEMORY     INFERENCES  REASON\n"
            "resnet  10       READY  100.0 MiB  12345\n");
  const ToolResult missing = Run("models", {"resnet", "no\x1bne"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(missing.errors, "nereid models: the server has no model 'no\\x1bne'\n");
}

TEST_F(RemoteToolsTest, Status) {
  SetNereid();
  const ToolResult text = Run("status", {});
  EXPECT_EQ(text.exit_code, 1);
  ExpectGolden(Golden("status.txt"), text.out);
  ExpectGolden(Golden("status.json"), Run("status", {"--format=json"}).out);
  replies_["GET /v2/health/ready?reason=true"] = Reply("");
  const ToolResult ready = Run("status", {});
  EXPECT_EQ(ready.exit_code, 0);
  EXPECT_THAT(ready.out, HasSubstr("ready       yes\n"));
}

TEST_F(RemoteToolsTest, StatusOfTriton) {
  SetNereid();
  replies_["GET /v2/health/ready?reason=true"] = Reply("", 400);
  const ToolResult text = Run("status", {});
  EXPECT_EQ(text.exit_code, 1);
  ExpectGolden(Golden("status_of_triton.txt"), text.out);
}

TEST_F(RemoteToolsTest, StatusWithoutTheRoleForReasons) {
  SetNereid();
  for (const char* check : {"live", "ready"}) {
    const std::string path = std::string("GET /v2/health/") + check;
    replies_[path] = Reply("");
    replies_[path + "?reason=true"] = Reply(R"({"error":"this operation needs a role"})", 401);
  }
  EXPECT_EQ(Run("status", {}).exit_code, 0);
  replies_["GET /v2/health/ready"] = Reply(R"({"error":"this operation needs a role"})", 401);
  const ToolResult refused = Run("status", {});
  EXPECT_EQ(refused.exit_code, kCannotRun);
  EXPECT_THAT(refused.errors, HasSubstr("the server answered 401: this operation needs a role"));
}

TEST_F(RemoteToolsTest, WhatIsNoServerOfV2) {
  EXPECT_EQ(Run("status", {}).exit_code, kCannotRun);
  replies_["POST /v2/repository/index"] = Reply("<html>");
  const ToolResult page = Run("models", {});
  EXPECT_EQ(page.exit_code, kCannotRun);
  EXPECT_THAT(page.errors, HasSubstr("is this a v2 server?"));
  const ToolResult nobody = Run("models", {"--url=other:1"});
  EXPECT_EQ(nobody.exit_code, kCannotRun);
  EXPECT_THAT(nobody.errors, StartsWith("nereid models: nobody"));
}

TEST_F(RemoteToolsTest, WhereAndWhoAsks) {
  environment_ = {{"NEREID_URL", "https://example.org/triton/"}, {"NEREID_TOKEN", " secret\n"}};
  base_ = "https://example.org/triton";
  SetNereid();
  EXPECT_EQ(Run("models", {"--ca-file=/ca.pem"}).exit_code, 0);
  EXPECT_EQ(ca_file_, "/ca.pem");
  EXPECT_EQ(curl::FieldOf(requests_[0].fields, "authorization"), "Bearer secret");
  EXPECT_EQ(Run("models", {"--url=unix:/run/x"}).exit_code, kCannotRun);
  EXPECT_EQ(requests_.back().unix_socket, "/run/x");
  EXPECT_FALSE(requests_.back().use_proxy);
  // The flag comes before the variable. A file that is no token is not sent.
  const auto directory = base::TemporaryDirectory::Create();
  ASSERT_TRUE(directory.ok());
  const std::string file = (*directory)->path() + "/token";
  std::ofstream(file) << "other\n";
  EXPECT_EQ(Run("models", {"--token-file=" + file}).exit_code, 0);
  EXPECT_EQ(curl::FieldOf(requests_.back().fields, "authorization"), "Bearer other");
  for (const char* text : {"", "\n", "two words", "a\r\nX: y"}) {
    std::ofstream(file) << text;
    const ToolResult wrong = Run("models", {"--token-file=" + file});
    EXPECT_EQ(wrong.exit_code, kCannotRun) << text;
    EXPECT_THAT(wrong.errors, HasSubstr("token'"));
  }
  EXPECT_EQ(Run("models", {"--token-file=/nowhere"}).exit_code, kCannotRun);
  EXPECT_THAT(Run("models", {"--url=ftp://x"}).errors, HasSubstr("is not the address of a server"));
  EXPECT_THAT(Run("status", {"--format=xml"}).errors, HasSubstr("must be text or json. Got xml"));
}

TEST_F(RemoteToolsTest, LoadShowsWhatChanges) {
  SetNereid();
  replies_["POST /v2/repository/models/resnet/load"] = Reply("....");
  int polls = 0;
  clock_.step_ns = kSecondNs;
  on_request_ = [&](const std::string& key) {
    if (key != "POST /v2/repository/index") return;
    const char* states[] = {"LOADING", "LOADING", "READY"};
    replies_[key] = Reply(R"([{"name":"resnet","version":"1","state":")" +
                          std::string(states[std::min(polls++, 2)]) + R"("}])");
  };
  const ToolResult loaded = Run("load", {"resnet"});
  EXPECT_EQ(loaded.exit_code, 0) << loaded.errors;
  EXPECT_THAT(progress_, ElementsAre("resnet: version 1 LOADING", "resnet: version 1 READY"));
  EXPECT_THAT(loaded.out, HasSubstr("resnet  1        READY"));
  EXPECT_EQ(requests_[0].body, "{}");
  EXPECT_EQ(requests_[0].timeouts.stall_secs, 0);
}

TEST_F(RemoteToolsTest, LoadSendsAConfigurationAndFiles) {
  const auto directory = base::TemporaryDirectory::Create();
  ASSERT_TRUE(directory.ok());
  const std::string config = (*directory)->path() + "/config", file = (*directory)->path() + "/f";
  std::ofstream(config) << R"({"backend":"x"})";
  std::ofstream(file) << "\x01\x02\x03\x04";
  replies_["POST /v2/repository/models/m/load"] = Reply("");
  const ToolResult loaded =
      Run("load", {"m", "--config=" + config, "--file=1/a=" + file, "--file", "1/b=" + file});
  EXPECT_EQ(loaded.exit_code, 0) << loaded.errors;
  EXPECT_EQ(requests_[0].body,
            R"({"parameters":{"config":"{\"backend\":\"x\"}","file:1/a":"AQIDBA==",)"
            R"("file:1/b":"AQIDBA=="}})");
  EXPECT_THAT(Run("load", {"m", "--file=1/a=" + file}).errors, HasSubstr("--file needs --config"));
  EXPECT_THAT(Run("load", {"m", "--config=" + config, "--file=" + file}).errors,
              HasSubstr("--file must be <path in the model>=<file>"));
  EXPECT_EQ(Run("load", {"m", "--config=/nowhere"}).exit_code, kCannotRun);
}

TEST_F(RemoteToolsTest, LoadFails) {
  replies_["POST /v2/repository/models/m/load"] =
      Reply(R"({"error":"failed to load 'm', no\u001b file\nat all"})", 400);
  const ToolResult failed = Run("load", {"m"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(failed.errors,
            "nereid load: the server answered 400: failed to load 'm', no\\x1b file\\nat all\n");
  replies_["POST /v2/repository/models/m/load"] = Reply("{}", 403);
  EXPECT_EQ(Run("load", {"m"}).exit_code, kCannotRun);
  EXPECT_EQ(Run("load", {}).exit_code, kCannotRun);
  EXPECT_EQ(Run("load", {"a", "b"}).exit_code, kCannotRun);
  EXPECT_THAT(Run("load", {"../x"}).errors, HasSubstr("cannot be the name of a model"));
  EXPECT_THAT(Run("load", {"m", "--timeout=soon"}).errors, HasSubstr("whole number of seconds"));
}

TEST_F(RemoteToolsTest, LoadGivesUp) {
  replies_["POST /v2/repository/models/m/load"] = Reply("..........");
  clock_.step_ns = kSecondNs;
  const ToolResult late = Run("load", {"m", "--timeout=5"});
  EXPECT_EQ(late.exit_code, 3);
  EXPECT_EQ(late.errors, "nereid load: gave up after 5 s; the server may go on loading\n");
}

TEST_F(RemoteToolsTest, UnloadWaitsForTheLastRequest) {
  int polls = 0;
  replies_["POST /v2/repository/models/m/unload"] = Reply("");
  on_request_ = [&](const std::string& key) {
    if (key != "POST /v2/repository/index") return;
    replies_[key] = Reply(R"([{"name":"m","version":"1","state":")" +
                          std::string(polls++ < 3 ? "UNLOADING" : "UNAVAILABLE") +
                          R"(","reason":"unloaded"}])");
  };
  const ToolResult unloaded = Run("unload", {"m", "--dependents"});
  EXPECT_EQ(unloaded.exit_code, 0) << unloaded.errors;
  EXPECT_EQ(requests_[0].body, R"({"parameters":{"unload_dependents":true}})");
  EXPECT_THAT(unloaded.out, HasSubstr("m      1        UNAVAILABLE  unloaded"));
  polls = -1000;
  EXPECT_EQ(Run("unload", {"m", "--timeout=2"}).exit_code, 3);
  EXPECT_EQ(Run("unload", {"m", "--no-wait"}).exit_code, 0);
  replies_["POST /v2/repository/models/m/unload"] = Reply(R"({"error":"no"})", 503);
  EXPECT_EQ(Run("unload", {"m"}).exit_code, 1);
}

TEST_F(RemoteToolsTest, UnloadWithoutAnIndexDoesNotWait) {
  replies_["POST /v2/repository/models/m/unload"] = Reply("");
  const ToolResult unloaded = Run("unload", {"m"});
  EXPECT_EQ(unloaded.exit_code, 0);
  EXPECT_EQ(unloaded.out, "");
}

}  // namespace
}  // namespace nereid::app::tools
