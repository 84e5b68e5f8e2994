// SPDX-License-Identifier: Apache-2.0
// nereid top: recorded statistics in, frames out; and the loop with a fake terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "app/tools/terminal.h"
#include "app/tools/testing/remote_tools_fixture.h"
#include "app/tools/top/top_frame.h"

namespace nereid::app::tools {
namespace {

using ::testing::HasSubstr;
using testing::kSecondNs;
using testing::RemoteToolsTest;
using testing::Reply;

std::string Statistics(uint64_t requests, const std::string& name = "resnet") {
  const auto counter = [](uint64_t count, uint64_t ns) {
    return R"({"count":)" + std::to_string(count) + R"(,"ns":)" + std::to_string(ns) + "}";
  };
  return R"({"model_stats":[{"name":")" + name + R"(","version":"1","inference_count":)" +
         std::to_string(requests) + R"(,"execution_count":)" + std::to_string(requests / 4) +
         R"(,"inference_stats":{"success":)" + counter(requests, requests * 3'000'000) +
         R"(,"fail":)" + counter(requests / 100, 0) + R"(,"queue":)" +
         counter(requests, requests * 500'000) + R"(},"batch_stats":[{"batch_size":4,)" +
         R"("compute_infer":)" + counter(requests / 4, requests * 2'000'000) +
         R"(}],"memory_usage":[{"type":"CPU","byte_size":104857600}]},)" +
         R"({"name":"idle\u001b[2J","version":"2"}]})";
}

TopSample Sample(uint64_t seconds, uint64_t requests) {
  TopSample sample;
  sample.time_ns = seconds * kSecondNs;
  sample.counters = DecodeCounters(Statistics(requests)).value();
  sample.index = {{"resnet", "1", "READY"}, {"asleep"}, {"broken", "1", "UNAVAILABLE", "no file"}};
  return sample;
}

class TopTest : public RemoteToolsTest {
 protected:
  TopTest() {
    replies_["GET /v2/models/stats"] = Reply(Statistics(1000));
    replies_["POST /v2/repository/index"] =
        Reply(R"([{"name":"resnet","version":"1","state":"READY"}])");
    on_request_ = [this](const std::string& key) {
      if (key != "GET /v2/models/stats" || !counts_) return;
      replies_[key] = Reply(Statistics(requests_so_far_ += 800));
    };
  }
  bool counts_ = true;
  uint64_t requests_so_far_ = 0;
};

TEST(TopFrame, RecordedStatistics) {
  const auto rows = TopRows(Sample(10, 1000), Sample(12, 1800));
  const std::string golden = RemoteToolsTest::Golden("top/");
  ExpectGolden(golden + "frame.txt", TopText(rows, {.url = "http://gpu:8000", .seconds = 2}));
  ExpectGolden(golden + "small.txt", TopText(rows, {.url = "http://gpu:8000",
                                                    .seconds = 2,
                                                    .problem = "no answer\x1b",
                                                    .columns = 40,
                                                    .lines = 6,
                                                    .color = true}));
  ExpectGolden(golden + "rows.json", TopJson(rows));
}

TEST(TopFrame, TheFirstSampleAndAReload) {
  const auto first = TopRows({}, Sample(10, 1000));
  EXPECT_EQ(first.size(), 4u);
  for (const TopRow& row : first) EXPECT_EQ(row.requests_per_second, 0);
  // The model was loaded anew, and has served 100 requests since.
  const auto reloaded = TopRows(Sample(10, 1000), Sample(12, 100));
  EXPECT_EQ(reloaded[0].model, "resnet");
  EXPECT_EQ(reloaded[0].requests_per_second, 50);
  EXPECT_EQ(TopRows(Sample(12, 1000), Sample(12, 1800))[0].requests_per_second, 0);
  for (size_t lines = 0; lines < 10; ++lines) {
    for (size_t columns = 0; columns < 5; ++columns) {
      EXPECT_NE(TopText(first, {.columns = columns, .lines = lines}), "");
    }
  }
}

TEST_F(TopTest, OnceAndFrames) {
  const ToolResult once = Run("top", {"--once"});
  EXPECT_EQ(once.exit_code, 0) << once.errors;
  EXPECT_THAT(once.out, HasSubstr("http://localhost:8000  400.0 requests/s"));
  const ToolResult frames = Run("top", {"--count=3", "--interval=1", "--format=json"});
  EXPECT_EQ(std::count(frames.out.begin(), frames.out.end(), '\n'), 3);
  EXPECT_THAT(frames.out, HasSubstr(R"("requests_per_second":800.000)"));
}

TEST_F(TopTest, AServerThatVanishesIsAskedAgain) {
  int looks = 0;
  on_request_ = [&](const std::string& key) {
    if (key != "GET /v2/models/stats") return;
    replies_[key] = ++looks == 3 ? Reply("down", 503) : Reply(Statistics(800 * looks));
  };
  const ToolResult frames = Run("top", {"--count=4"});
  EXPECT_EQ(frames.exit_code, 0);
  EXPECT_THAT(frames.out, HasSubstr("the server answered 503: down\nMODEL"));
  EXPECT_THAT(frames.out, HasSubstr("over 4.0 s"));  // the time in which it did not answer counts
  counts_ = false;
  on_request_ = {};
  replies_["GET /v2/models/stats"] = Reply("<html>");
  const ToolResult once = Run("top", {"--once"});
  EXPECT_EQ(once.exit_code, kCannotRun);
  EXPECT_THAT(once.errors, HasSubstr("is this a v2 server?"));
}

TEST_F(TopTest, WrongFlags) {
  for (const char* flag : {"--interval=0", "--interval=x", "--count=0", "--format=x", "word"}) {
    EXPECT_EQ(Run("top", {flag}).exit_code, kCannotRun) << flag;
  }
  EXPECT_EQ(Run("top", {"--url=grpc://x"}).exit_code, kCannotRun);
}

class FakeTerminal final : public Terminal {
 public:
  Size GetSize() const override { return {80, 24}; }
  void Enter() override { ++entered; }
  void Leave() override { ++left; }
  std::optional<char> WaitForKey(std::chrono::milliseconds) override {
    on_wait();
    if (keys.empty()) return 'q';
    const char key = keys.front();
    keys.erase(0, 1);
    return key == '.' ? std::nullopt : std::optional(key);
  }
  int entered = 0, left = 0;
  std::string keys;  // '.': the time is over
  std::function<void()> on_wait;
};

TEST_F(TopTest, ATerminalIsLeftAsItWas) {
  FakeTerminal terminal;
  context_.terminal = &terminal;
  context_.out_is_terminal = true;
  terminal.keys = ".x.";
  terminal.on_wait = [&] { clock_.Advance(kSecondNs); };
  std::vector<std::string> frames;
  context_.print = [&](std::string_view text) {
    frames.emplace_back(text);
    return true;
  };
  EXPECT_EQ(Run("top", {}).exit_code, 0);
  EXPECT_EQ(frames.size(), 3u);
  EXPECT_THAT(frames[1], ::testing::StartsWith("\x1b[H\x1b[1mhttp://localhost:8000  800.0 req"));
  EXPECT_THAT(frames[1], ::testing::EndsWith("\x1b[K\r\n\x1b[J"));
  EXPECT_EQ(terminal.entered, 1);
  EXPECT_EQ(terminal.left, 1);
  context_.print = [](std::string_view) { return false; };
  terminal.keys = "....";
  EXPECT_EQ(Run("top", {}).exit_code, 0);
  EXPECT_EQ(terminal.left, 2);
}

}  // namespace
}  // namespace nereid::app::tools
