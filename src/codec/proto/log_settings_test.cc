// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/log_settings.h"

#include <gtest/gtest.h>

#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

TEST(LogSettingsTest, DecodesChangesAndIgnoresUnknownSettings) {
  inference::LogSettingsRequest message;
  (*message.mutable_settings())["log_info"].set_bool_param(false);
  (*message.mutable_settings())["log_verbose_level"].set_uint32_param(3);
  (*message.mutable_settings())["log_format"].set_string_param("ISO8601");
  (*message.mutable_settings())["other"].set_string_param("x");
  const auto changes = DecodeLogChanges(message);
  ASSERT_TRUE(changes.ok()) << changes.status().message();
  EXPECT_EQ(changes->info, std::optional<bool>(false));
  EXPECT_EQ(changes->verbose_level, std::optional<uint32_t>(3));
  EXPECT_EQ(changes->format, std::optional(base::LogFormat::kIso8601));
  EXPECT_FALSE(changes->warning || changes->error);
}

TEST(LogSettingsTest, RefusesWrongValues) {
  const auto refusal = [](const std::string& key, const std::string& value) {
    inference::LogSettingsRequest message;
    (*message.mutable_settings())[key].set_string_param(value);
    return DecodeLogChanges(message).status().message();
  };
  EXPECT_EQ(refusal("log_info", "true"), "expect boolean for 'log_info'");
  EXPECT_EQ(refusal("log_verbose_level", "1"), "expect int32 for 'log_verbose_level'");
  EXPECT_EQ(refusal("log_format", "x"), "invalid argument for log_format, got: x");
  EXPECT_EQ(refusal("log_file", "x"), api::LogFileIsFixed().message());
}

TEST(LogSettingsTest, EncodesAllSettings) {
  inference::LogSettingsResponse message;
  EncodeLogSettings({.file = "f", .warning = false, .verbose_level = 2}, &message);
  EXPECT_EQ(message.settings_size(), 6);
  EXPECT_EQ(message.settings().at("log_file").string_param(), "f");
  EXPECT_TRUE(message.settings().at("log_info").bool_param());
  EXPECT_FALSE(message.settings().at("log_warning").bool_param());
  EXPECT_EQ(message.settings().at("log_verbose_level").uint32_param(), 2U);
  EXPECT_EQ(message.settings().at("log_format").string_param(), "default");
}

}  // namespace
}  // namespace nereid::codec::proto
