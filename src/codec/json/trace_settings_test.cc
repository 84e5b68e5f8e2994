// SPDX-License-Identifier: Apache-2.0
#include "codec/json/trace_settings.h"

#include <gtest/gtest.h>

#include "request/trace.h"

namespace nereid::codec::json {
namespace {

TEST(TraceSettingsJson, ShowsNumbersAsText) {
  api::TraceSettings settings;
  EXPECT_EQ(EncodeTraceSettings(settings),
            R"({"trace_level":["OFF"],"trace_rate":"1000","trace_count":"-1","log_frequency":"0",)"
            R"("trace_file":"","trace_mode":"triton"})");
  settings.level = request::kTraceTimestamps | request::kTraceTensors;
  settings.file = "a\"b";
  EXPECT_NE(
      EncodeTraceSettings(settings).find(R"("trace_level":["TIMESTAMPS","TENSORS"],"trace_rate")"),
      std::string::npos);
  EXPECT_NE(EncodeTraceSettings(settings).find(R"("trace_file":"a\"b")"), std::string::npos);
}

TEST(TraceSettingsJson, ShowsTheOptionsOfOpenTelemetry) {
  api::TraceSettings settings;
  settings.mode = api::TraceMode::kOpenTelemetry;
  settings.file = "f";
  settings.options = {{"url", "http://c:1/x"}, {"resource", "a=b"}, {"resource", "c=d"}};
  EXPECT_EQ(EncodeTraceSettings(settings),
            R"({"trace_level":["OFF"],"trace_rate":"1000","trace_count":"-1",)"
            R"("trace_mode":"opentelemetry","resource":"a=b,c=d","url":"http://c:1/x"})");
}

TEST(TraceSettingsJson, ReadsChanges) {
  const auto changes = DecodeTraceChanges(
      R"({"trace_level":["TENSORS"],"trace_rate":"7","trace_count":null,"trace_mode":"x","y":[1]})");
  ASSERT_TRUE(changes.ok());
  EXPECT_EQ(**changes->level, request::kTraceTensors);
  EXPECT_EQ(**changes->rate, 7u);
  ASSERT_TRUE(changes->count.has_value());
  EXPECT_FALSE(changes->count->has_value());
  EXPECT_FALSE(changes->log_frequency.has_value());
  const auto cleared = DecodeTraceChanges(R"({"trace_level":null})");
  ASSERT_TRUE(cleared.ok() && cleared->level.has_value());
  EXPECT_FALSE(cleared->level->has_value());
  EXPECT_FALSE(DecodeTraceChanges(R"({"trace_level":[]})")->level.has_value());
  EXPECT_TRUE(DecodeTraceChanges("[]").ok());
}

TEST(TraceSettingsJson, SaysWhatIsWrong) {
  const auto failure = [](std::string_view json) {
    return DecodeTraceChanges(json).status().message();
  };
  EXPECT_EQ(failure(""), "failed to parse the request JSON buffer: The document is empty. at 0");
  EXPECT_EQ(failure("{"),
            "failed to parse the request JSON buffer: Missing a name for object member. at 1");
  EXPECT_EQ(failure(R"({"trace_rate":5})"),
            "Unable to parse 'trace_rate': attempt to access JSON non-string as string");
  EXPECT_EQ(failure(R"({"trace_level":[5]})"),
            "Unable to parse 'trace_level': attempt to access JSON non-string as string");
  EXPECT_EQ(failure(R"({"trace_level":"OFF"})"),
            "Unable to parse 'trace_level': attempt to access JSON non-array as array");
  EXPECT_EQ(failure(R"({"trace_rate":"x"})"), "Unable to parse 'trace_rate', got: x");
  EXPECT_EQ(failure(R"({"trace_file":null})"),
            "trace file location can not be updated through network protocol");
}

}  // namespace
}  // namespace nereid::codec::json
