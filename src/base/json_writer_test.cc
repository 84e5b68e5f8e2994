// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>

namespace nereid::base {
namespace {

TEST(JsonWriterTest, SeparatesMembersAndElements) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("a").Integer(1).Key("b").BeginArray();
  json.BeginObject().EndObject().BeginArray().EndArray().Bool(true).Null().String("x");
  json.EndArray().Key("c").Bool(false).Key("d").Raw("[1,2]").EndObject();
  EXPECT_EQ(text, R"({"a":1,"b":[{},[],true,null,"x"],"c":false,"d":[1,2]})");
}

TEST(JsonWriterTest, EscapesKeysAndValues) {
  std::string text = "x";
  JsonWriter(&text).StringMap(
      std::map<std::string, std::string>{{"a\"", "b\\\n\x1f"}, {"\xff", ""}});
  EXPECT_EQ(text, "x{\"a\\\"\":\"b\\\\\\n\\u001F\",\"\uFFFD\":\"\"}");
}

TEST(JsonWriterTest, WritesTheWholeRangeOfIntegers) {
  std::string text;
  JsonWriter(&text)
      .BeginArray()
      .Integer(std::numeric_limits<int64_t>::min())
      .Integer(std::numeric_limits<uint64_t>::max())
      .EndArray();
  EXPECT_EQ(text, "[-9223372036854775808,18446744073709551615]");
}

TEST(JsonWriterTest, BreaksLinesAfterTheComma) {
  std::string text;
  JsonWriter json(&text);
  json.BeginArray().NewLine().Integer(1).NewLine().Integer(2).NewLine().EndArray();
  json.NewLine();
  EXPECT_EQ(text, "[\n1,\n2\n]");
}

}  // namespace
}  // namespace nereid::base
