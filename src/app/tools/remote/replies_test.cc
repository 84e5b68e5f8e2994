// SPDX-License-Identifier: Apache-2.0
#include "app/tools/remote/replies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/tools/remote/document_reader.h"

namespace nereid::app::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DecodeIndex, EntriesOfEveryKind) {
  const auto models = DecodeIndex(
      R"([{"name":"a","version":"1","state":"READY"},{"name":"b","reason":"x\ny","extra":[1]},{}])");
  ASSERT_TRUE(models.ok()) << models.status().message();
  ASSERT_EQ(models->size(), 3u);
  EXPECT_EQ((*models)[0].state, "READY");
  EXPECT_EQ((*models)[1].reason, "x\ny");
  EXPECT_EQ((*models)[2].name, "");
  EXPECT_TRUE(DecodeIndex("[]")->empty());
  EXPECT_EQ((*DecodeIndex(R"([{"name":5,"state":null}])"))[0].name, "");
}

TEST(DecodeIndex, RefusesWhatIsNoList) {
  for (const std::string& text : {std::string(), std::string("{}"), std::string("[5]"),
                                  std::string("[{]"), std::string("[] x"), std::string("<html>"),
                                  std::string(R"([{"name":"a"})"), std::string(10'000, '[')}) {
    EXPECT_FALSE(DecodeIndex(text).ok()) << text.substr(0, 40);
  }
  std::string many = "[{}";
  for (size_t i = 0; i < kMaxListed; ++i) many += ",{}";
  EXPECT_THAT(DecodeIndex(many + "]").status().message(), HasSubstr("more than 100000 elements"));
}

TEST(DecodeStatistics, CountsAndMemory) {
  const auto numbers = DecodeStatistics(
      R"({"model_stats":[{"name":"a","version":"1","inference_count":7,"memory_usage":[)"
      R"({"type":"CPU","id":0,"byte_size":100},{"type":"GPU","id":0,"byte_size":"23"}]},)"
      R"({"name":"b","version":"2","inference_count":"9","memory_usage":[]},)"
      R"({"name":"c","inference_count":-1}]})");
  ASSERT_TRUE(numbers.ok()) << numbers.status().message();
  EXPECT_EQ((*numbers)[0].inferences, 7u);
  EXPECT_EQ((*numbers)[0].memory_bytes, 123u);
  EXPECT_EQ((*numbers)[1].inferences, 9u);
  EXPECT_EQ((*numbers)[1].memory_bytes, std::nullopt);
  EXPECT_EQ((*numbers)[2].inferences, std::nullopt);
  EXPECT_FALSE(DecodeStatistics("[]").ok());
}

TEST(DecodeServer, NameVersionExtensions) {
  const auto server =
      DecodeServer(R"({"name":"triton","version":"2.51.0","extensions":["a","b"],"x":{}})");
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(server->name, "triton");
  EXPECT_THAT(server->extensions, ElementsAre("a", "b"));
  EXPECT_TRUE(DecodeServer("{}")->extensions.empty());
  EXPECT_FALSE(DecodeServer("").ok());
}

TEST(DecodeReasons, OfHealth) {
  const auto reasons =
      DecodeReasons(R"({"ready":false,"reasons":[{"cause":"model","model":"m","version":"1",)"
                    R"("state":"UNAVAILABLE","text":"t"}],"omitted":0})");
  ASSERT_TRUE(reasons.ok());
  EXPECT_EQ((*reasons)[0].state, "UNAVAILABLE");
  EXPECT_FALSE(DecodeReasons("").ok());  // a server that gives no reasons
}

TEST(ErrorText, OfTheBodyOrTheBodyItself) {
  EXPECT_EQ(ErrorText(R"({"error":"no such model"})"), "no such model");
  EXPECT_EQ(ErrorText("<html>"), "<html>");
  EXPECT_EQ(ErrorText(R"({"error":5})"), R"({"error":5})");
  EXPECT_EQ(ErrorText(std::string(9000, 'x')).size(), 500u);
}

}  // namespace
}  // namespace nereid::app::tools
