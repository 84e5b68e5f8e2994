// SPDX-License-Identifier: Apache-2.0
#include "api/log_settings.h"

#include <gtest/gtest.h>

namespace nereid::api {
namespace {

TEST(LogSettingsTest, ChangesWhatIsNamedAndNothingElse) {
  const LogSettings before = GetLogSettings();
  LogChanges changes;
  changes.warning = false;
  changes.verbose_level = UINT32_MAX;
  changes.format = base::LogFormat::kIso8601;
  ChangeLogSettings(changes);
  const LogSettings now = GetLogSettings();
  EXPECT_EQ(now.info, before.info);
  EXPECT_FALSE(now.warning);
  EXPECT_EQ(now.error, before.error);
  EXPECT_EQ(now.verbose_level, static_cast<uint32_t>(INT32_MAX));
  EXPECT_EQ(now.format, base::LogFormat::kIso8601);
  ChangeLogSettings(
      {before.info, before.warning, before.error, before.verbose_level, before.format});
}

TEST(LogSettingsTest, FormatsHaveNames) {
  EXPECT_EQ(FindLogFormat("default"), base::LogFormat::kDefault);
  EXPECT_EQ(FindLogFormat("ISO8601"), base::LogFormat::kIso8601);
  EXPECT_EQ(FindLogFormat("json"), base::LogFormat::kJson);
  EXPECT_EQ(FindLogFormat("iso8601"), std::nullopt);
  EXPECT_EQ(FindLogFormat("JSON"), std::nullopt);
  for (const char* const name : {"default", "ISO8601", "json"}) {
    EXPECT_EQ(LogFormatName(*FindLogFormat(name)), name);
  }
}

}  // namespace
}  // namespace nereid::api
