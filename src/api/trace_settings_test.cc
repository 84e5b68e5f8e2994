// SPDX-License-Identifier: Apache-2.0
#include "api/trace_settings.h"

#include <gtest/gtest.h>

#include "request/trace.h"

namespace nereid::api {
namespace {

std::string Failure(std::string_view key, std::string_view text) {
  TraceChanges changes;
  const base::Status status = changes.SetNumber(key, text);
  EXPECT_EQ(status.ok(), status.message().empty());
  return status.message();
}

TEST(TraceChanges, ReadNumbersAndClear) {
  TraceChanges changes;
  EXPECT_TRUE(changes.SetNumber("trace_rate", "4294967295").ok());
  EXPECT_TRUE(changes.SetNumber("trace_count", "-1").ok());
  EXPECT_TRUE(changes.SetNumber("log_frequency", std::nullopt).ok());
  EXPECT_TRUE(changes.SetNumber("nothing", "x").ok());
  EXPECT_EQ(**changes.rate, 4294967295U);
  EXPECT_EQ(**changes.count, -1);
  ASSERT_TRUE(changes.log_frequency.has_value());
  EXPECT_FALSE(changes.log_frequency->has_value());
  EXPECT_FALSE(changes.level.has_value());
}

TEST(TraceChanges, SayWhatIsWrongWithANumber) {
  EXPECT_EQ(Failure("trace_rate", "x"), "Unable to parse 'trace_rate', got: x");
  EXPECT_EQ(Failure("trace_rate", ""), "Unable to parse 'trace_rate', got: ");
  EXPECT_EQ(Failure("trace_rate", "5x"), "Unable to parse 'trace_rate', got: 5x");
  EXPECT_EQ(Failure("trace_rate", "4294967296"),
            "Unable to parse 'trace_rate', value is out of range [ 0, 4294967295 ], got: "
            "4294967296");
  EXPECT_EQ(Failure("log_frequency", "-1"),
            "Unable to parse 'log_frequency', value is out of range [ 0, 4294967295 ], got: -1");
  EXPECT_EQ(Failure("trace_count", "-2"),
            "Unable to parse 'trace_count'. Expecting value >= -1, got:-2");
  EXPECT_EQ(Failure("trace_count", "99999999999999999999"),
            "Unable to parse 'trace_count', value is out of range [ -1, 2147483647 ], got: "
            "99999999999999999999");
  EXPECT_EQ(Failure("trace_count", "-99999999999999999999"),
            "Unable to parse 'trace_count'. Expecting value >= -1, got:-99999999999999999999");
}

TEST(TraceChanges, ReadLevels) {
  TraceChanges changes;
  EXPECT_TRUE(changes.SetLevel(std::vector<std::string>{"TENSORS", "TIMESTAMPS", "else"}).ok());
  EXPECT_EQ(TraceLevelNames(**changes.level),
            (std::vector<std::string_view>{"TIMESTAMPS", "TENSORS"}));
  EXPECT_TRUE(changes.SetLevel(std::vector<std::string>{"OFF"}).ok());
  EXPECT_EQ(TraceLevelNames(**changes.level), std::vector<std::string_view>{"OFF"});
  changes.level.reset();
  EXPECT_TRUE(changes.SetLevel(std::vector<std::string>{"tensors"}).ok());
  EXPECT_FALSE(changes.level.has_value());
  EXPECT_EQ(changes.SetLevel(std::vector<std::string>{"OFF", "TENSORS"}).message(),
            "Expect only one trace level 'OFF' is specified");
}

TEST(TraceSettings, NeedAFileAndARateOnceALevelIsOn) {
  TraceSettings settings;
  settings.rate = 0;
  EXPECT_EQ(TraceDefect(settings), "");
  settings.level = request::kTraceTensors;
  EXPECT_EQ(TraceDefect(settings), "sample rate must be non-zero");
  settings.rate = 1;
  EXPECT_EQ(TraceDefect(settings), "trace file name is not given");
  settings.file = "f";
  EXPECT_EQ(TraceDefect(settings), "");
}

TEST(TraceSettings, OfOpenTelemetryNeedNoFile) {
  TraceSettings settings;
  settings.mode = TraceMode::kOpenTelemetry;
  settings.level = request::kTraceTimestamps;
  EXPECT_EQ(TraceDefect(settings), "");
  settings.rate = 0;
  EXPECT_EQ(TraceDefect(settings), "sample rate must be non-zero");
}

}  // namespace
}  // namespace nereid::api
