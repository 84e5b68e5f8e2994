// SPDX-License-Identifier: Apache-2.0
#include "app/options/flag_values.h"

#include <gtest/gtest.h>

namespace nereid::app {
namespace {

TEST(ParseBoolTest, WordsInAnyCase) {
  for (const char* text : {"true", "TRUE", "On", "1"}) EXPECT_TRUE(*ParseBool(text)) << text;
  for (const char* text : {"false", "False", "oFF", "0"}) EXPECT_FALSE(*ParseBool(text)) << text;
  for (const char* text : {"", "yes", "2", " true"}) EXPECT_FALSE(ParseBool(text).ok()) << text;
}

TEST(ParseIntegerTest, BoundsAndForms) {
  EXPECT_EQ(*ParseInteger("+7", 0, 10), 7);
  EXPECT_EQ(*ParseInteger("-9223372036854775808", INT64_MIN, INT64_MAX), INT64_MIN);
  for (const char* text : {"", "+", "+-1", "x", "80x", "1 ", " 1", "0x10", "1.0"}) {
    EXPECT_NE(ParseInteger(text, -100, 100).status().message().find("Invalid option value"),
              std::string::npos)
        << text;
  }
  for (const char* text : {"11", "-1", "99999999999999999999"}) {
    EXPECT_NE(ParseInteger(text, 0, 10).status().message().find("out of bound"), std::string::npos)
        << text;
  }
}

TEST(ParseFileModeTest, OctalDigits) {
  EXPECT_EQ(*ParseFileMode("0660"), 0660u);
  EXPECT_EQ(*ParseFileMode("7"), 7u);
  EXPECT_EQ(*ParseFileMode("777"), 0777u);
  for (const char* text : {"", "x", "8", "0o660", "-1", "1000", "660 ", "99999999999999"}) {
    EXPECT_FALSE(ParseFileMode(text).ok()) << text;
  }
}

TEST(ParseNumberTest, BoundsAndForms) {
  EXPECT_DOUBLE_EQ(*ParseNumber("0.25", 0, 1), 0.25);
  EXPECT_DOUBLE_EQ(*ParseNumber("1e2", 0, 1000), 100);
  for (const char* text : {"", "x", "1.x", "nan", "inf", "1e999", "2"}) {
    EXPECT_FALSE(ParseNumber(text, 0, 1).ok()) << text;
  }
}

TEST(SplitListTest, EmptyPartsAreKept) {
  EXPECT_EQ(SplitList("a,,b"), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(SplitList(""), (std::vector<std::string>{""}));
}

TEST(ParseScopedSettingTest, ACommaAfterTheEqualsSignBelongsToTheValue) {
  auto parsed = *ParseScopedSetting("onnxruntime,a=b=c,d", "F", false);
  EXPECT_EQ(parsed.scope, "onnxruntime");
  EXPECT_EQ(parsed.setting, "a");
  EXPECT_EQ(parsed.value, "b=c,d");
  parsed = *ParseScopedSetting("a=x,y=z", "F", false);
  EXPECT_EQ(parsed.scope, "");
  EXPECT_EQ(parsed.value, "x,y=z");
  for (const char* text : {"", "a", "a,b", "=x", "a,=x", ",a=x", "a=", "b,a="}) {
    EXPECT_FALSE(ParseScopedSetting(text, "F", false).ok()) << text;
  }
  EXPECT_FALSE(ParseScopedSetting("a=b", "F", true).ok());
}

TEST(ParseRestrictedTest, KeyAndValueMayHoldSeparators) {
  const auto group = *ParseRestricted("health,model-config:x-key=a=b:c", "api", {});
  EXPECT_EQ(group.categories, (std::vector<std::string>{"health", "model-config"}));
  EXPECT_EQ(group.key, "x-key");
  EXPECT_EQ(group.value, "a=b:c");
}

}  // namespace
}  // namespace nereid::app
