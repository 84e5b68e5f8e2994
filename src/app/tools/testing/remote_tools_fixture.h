// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/tools/testing/golden.h"
#include "app/tools/tool.h"
#include "curl/testing/fake_http_client.h"

namespace nereid::app::tools::testing {

using curl::HttpRequest;
using curl::testing::FakeHttpClient;
using curl::testing::FakeReply;
inline constexpr char kBase[] = "http://localhost:8000";
inline constexpr uint64_t kSecondNs = 1'000'000'000;

inline FakeReply Reply(std::string body, int status = 200) {
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
 public:
  static std::string Golden(const std::string& name) {
    return SourceDirectory() + "/src/app/tools/golden/" + name;
  }

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

}  // namespace nereid::app::tools::testing
