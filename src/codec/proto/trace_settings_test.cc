// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/trace_settings.h"

#include <gtest/gtest.h>

#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

TEST(TraceSettingsTest, ARequestWithoutSettingsChangesNothing) {
  const auto changes = DecodeTraceChanges({});
  ASSERT_TRUE(changes.ok());
  EXPECT_FALSE(changes->has_value());
}

TEST(TraceSettingsTest, DecodesChanges) {
  inference::TraceSettingRequest message;
  (*message.mutable_settings())["trace_rate"].add_value("7");
  (*message.mutable_settings())["trace_count"];  // no value: back to the wider setting
  (*message.mutable_settings())["trace_level"].add_value("TIMESTAMPS");
  (*message.mutable_settings())["other"].add_value("x");
  const auto changes = DecodeTraceChanges(message);
  ASSERT_TRUE(changes.ok()) << changes.status().message();
  ASSERT_TRUE(changes->has_value());
  ASSERT_TRUE((*changes)->rate.has_value());
  EXPECT_EQ(*(*changes)->rate, std::optional<uint32_t>(7));
  ASSERT_TRUE((*changes)->count.has_value());
  EXPECT_FALSE((*changes)->count->has_value());
  EXPECT_TRUE((*changes)->level.has_value());
  EXPECT_FALSE((*changes)->log_frequency.has_value());
}

TEST(TraceSettingsTest, RefusesWrongValues) {
  inference::TraceSettingRequest two;
  (*two.mutable_settings())["trace_rate"].add_value("7");
  (*two.mutable_settings())["trace_rate"].add_value("8");
  EXPECT_EQ(DecodeTraceChanges(two).status().message(), "expect only 1 value for 'trace_rate'");
  inference::TraceSettingRequest file;
  (*file.mutable_settings())["trace_file"].add_value("f");
  EXPECT_EQ(DecodeTraceChanges(file).status().message(), api::TraceFileIsFixed().message());
}

TEST(TraceSettingsTest, EncodesNumbersAsTexts) {
  inference::TraceSettingResponse message;
  EncodeTraceSettings({.rate = 5, .file = "f"}, &message);
  EXPECT_EQ(message.settings_size(), 6);
  EXPECT_EQ(message.settings().at("trace_level").value(0), "OFF");
  EXPECT_EQ(message.settings().at("trace_rate").value(0), "5");
  EXPECT_EQ(message.settings().at("trace_count").value(0), "-1");
  EXPECT_EQ(message.settings().at("trace_file").value(0), "f");
  EXPECT_EQ(message.settings().at("trace_mode").value(0), "triton");
}

TEST(TraceSettingsTest, ShowsTheOptionsOfOpenTelemetry) {
  api::TraceSettings settings;
  settings.mode = api::TraceMode::kOpenTelemetry;
  settings.options = {{"url", "http://c:1/x"}, {"resource", "a=b"}, {"resource", "c=d"}};
  inference::TraceSettingResponse message;
  EncodeTraceSettings(settings, &message);
  EXPECT_EQ(message.settings_size(), 6);
  EXPECT_EQ(message.settings().at("trace_mode").value(0), "opentelemetry");
  EXPECT_EQ(message.settings().at("url").value(0), "http://c:1/x");
  EXPECT_EQ(message.settings().at("resource").value_size(), 2);
  EXPECT_FALSE(message.settings().contains("trace_file"));
  EXPECT_FALSE(message.settings().contains("log_frequency"));
}

}  // namespace
}  // namespace nereid::codec::proto
