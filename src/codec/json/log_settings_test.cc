// SPDX-License-Identifier: Apache-2.0
#include "codec/json/log_settings.h"

#include <gtest/gtest.h>

namespace nereid::codec::json {
namespace {

TEST(LogSettingsTest, EncodesAllSix) {
  api::LogSettings settings;
  settings.file = "a \"file\"";
  settings.warning = false;
  settings.verbose_level = 7;
  settings.format = base::LogFormat::kIso8601;
  EXPECT_EQ(EncodeLogSettings(settings),
            R"({"log_file":"a \"file\"","log_info":true,"log_warning":false,"log_error":true,)"
            R"("log_verbose_level":7,"log_format":"ISO8601"})");
}

TEST(LogSettingsTest, DecodesWhatIsNamed) {
  const auto changes = DecodeLogChanges(
      R"({"log_info":false,"log_warning":null,"log_verbose_level":3,"log_format":"ISO8601","x":[]})");
  ASSERT_TRUE(changes.ok()) << changes.status().message();
  EXPECT_EQ(changes->info, false);
  EXPECT_EQ(changes->warning, std::nullopt);
  EXPECT_EQ(changes->error, std::nullopt);
  EXPECT_EQ(changes->verbose_level, 3u);
  EXPECT_EQ(changes->format, base::LogFormat::kIso8601);
  for (const char* const nothing : {"{}", "[1]", R"({"log_file":null})"}) {
    const auto none = DecodeLogChanges(nothing);
    ASSERT_TRUE(none.ok()) << nothing;
    EXPECT_EQ(none->info, std::nullopt);
  }
}

TEST(LogSettingsTest, JsonIsAFormat) {
  const auto changes = DecodeLogChanges(R"({"log_format":"json"})");
  ASSERT_TRUE(changes.ok()) << changes.status().message();
  EXPECT_EQ(changes->format, base::LogFormat::kJson);
}

TEST(LogSettingsTest, RefusesInTheWordsOfTheProtocol) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "failed to parse the request JSON buffer: The document is empty. at 0"},
      {"x", "failed to parse the request JSON buffer: Invalid value. at 0"},
      {R"({"log_info":1})",
       "Unable to parse 'log_info': attempt to access JSON non-boolean as boolean"},
      {R"({"log_verbose_level":-1})",
       "Unable to parse 'log_verbose_level': attempt to access JSON non-unsigned-integer as "
       "unsigned-integer"},
      {R"({"log_verbose_level":true})",
       "Unable to parse 'log_verbose_level': attempt to access JSON non-unsigned-integer as "
       "unsigned-integer"},
      {R"({"log_verbose_level":4294967296})",
       "'log_verbose_level' has the value 4294967296, which UINT32 cannot hold"},
      {R"({"log_format":1})",
       "Unable to parse 'log_format': attempt to access JSON non-string as string"},
      {R"({"log_format":"x"})", "invalid argument for --log_format, got: x"},
      {R"({"log_file":"x"})", "log file location can not be updated through network protocol"},
  };
  for (const auto& [json, message] : cases) {
    const auto changes = DecodeLogChanges(json);
    ASSERT_FALSE(changes.ok()) << json;
    EXPECT_EQ(changes.status().message(), message);
    if (changes.status().code() == base::StatusCode::kUnsupported) continue;  // log_file
    EXPECT_EQ(changes.status().code(), base::StatusCode::kInvalidArgument) << json;
  }
}

}  // namespace
}  // namespace nereid::codec::json
