// SPDX-License-Identifier: Apache-2.0
#include "codec/json/error.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::codec::json {
namespace {

std::string Encode(std::string_view message) {
  TextBuffer json;
  AppendError(message, &json);
  return std::string(json.view());
}

TEST(ErrorTest, QuotesTheMessage) {
  EXPECT_EQ(Encode("a \"b\"\n\x01\\"), R"({"error":"a \"b\"\n\u0001\\"})");
}

TEST(ErrorTest, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(Encode("name '\xff\u00E4\xc3'"), "{\"error\":\"name '\uFFFD\u00E4\uFFFD'\"}");
}

}  // namespace
}  // namespace nereid::codec::json
