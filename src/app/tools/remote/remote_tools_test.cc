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
#include "app/tools/testing/remote_tools_fixture.h"
#include "app/tools/tool.h"
#include "base/temporary_directory.h"
#include "curl/testing/fake_http_client.h"

namespace nereid::app::tools {
namespace {

using curl::HttpRequest;
using curl::testing::FakeReply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kSecondNs;
using testing::RemoteToolsTest;
using testing::Reply;
using ::testing::StartsWith;

TEST_F(RemoteToolsTest, Models) {
  SetNereid();
  const ToolResult text = Run("models", {});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_EQ(text.errors, "");
  ExpectGolden(Golden("remote/models.txt"), text.out);
  ExpectGolden(Golden("remote/models.json"), Run("models", {"--format=json"}).out);
}

TEST_F(RemoteToolsTest, ModelsOfAServerWithoutNumbers) {
  SetNereid();
  replies_.erase("GET /v2/models/stats");
  ExpectGolden(Golden("remote/models_without_numbers.txt"), Run("models", {}).out);
  replies_["GET /v2/models/stats"] = Reply("<html>");
  ExpectGolden(Golden("remote/models_without_numbers.txt"), Run("models", {}).out);
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
  ExpectGolden(Golden("remote/status.txt"), text.out);
  ExpectGolden(Golden("remote/status.json"), Run("status", {"--format=json"}).out);
  replies_["GET /v2/health/ready?reason=true"] = Reply("");
  const ToolResult ready = Run("status", {});
  EXPECT_EQ(ready.exit_code, 0);
  EXPECT_THAT(ready.out, HasSubstr("ready       yes\n"));
}

TEST_F(RemoteToolsTest, StatusWaitsUntilTheServerIsReady) {
  SetNereid();
  base_ = "nobody listens";
  int asked = 0;
  context_.pause = [&](std::chrono::milliseconds) {
    if (++asked == 2) base_ = testing::kBase;
    if (asked == 4) replies_["GET /v2/health/ready?reason=true"] = Reply("");
  };
  const ToolResult ready = Run("status", {"--wait"});
  EXPECT_EQ(ready.exit_code, 0) << ready.errors;
  EXPECT_EQ(asked, 4);
}

TEST_F(RemoteToolsTest, StatusStopsWaiting) {
  SetNereid();
  const ToolResult draining = Run("status", {"--wait", "--timeout=5"});
  EXPECT_EQ(draining.exit_code, 3);
  EXPECT_THAT(draining.out, HasSubstr("the server drains"));
  base_ = "nobody listens";
  const ToolResult silent = Run("status", {"--wait", "--timeout=5"});
  EXPECT_EQ(silent.exit_code, 3);
  EXPECT_EQ(silent.errors, "nereid status: nobody\n");
  // What a client cannot wait for ends at once.
  base_ = testing::kBase;
  replies_["GET /v2/health/live?reason=true"] = Reply("", 401);
  replies_["GET /v2/health/live"] = Reply("", 401);
  EXPECT_EQ(Run("status", {"--wait"}).exit_code, kCannotRun);
}

TEST_F(RemoteToolsTest, StatusOfTriton) {
  SetNereid();
  replies_["GET /v2/health/ready?reason=true"] = Reply("", 400);
  const ToolResult text = Run("status", {});
  EXPECT_EQ(text.exit_code, 1);
  ExpectGolden(Golden("remote/status_of_triton.txt"), text.out);
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
