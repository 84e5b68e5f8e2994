// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "abi/message.h"

namespace nereid::abi {
namespace {

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(CheckJsonTest, AcceptsEveryKindOfValue) {
  for (const char* text :
       {"{}", "[]", "null", "true", "false", "0", "-0.5e+10", "12E-3", "\"\"", " [1 , 2]\n",
        R"({"a":{"b":[1,"x\u00e9\n",null]},"c":"\\\"\/\b\f\r\t"})", "\"caf\xc3\xa9\""}) {
    EXPECT_TRUE(CheckJson(text).ok()) << text << ": " << CheckJson(text).message();
  }
}

TEST(CheckJsonTest, RefusesInvalidDocuments) {
  for (const char* text : {"",          " ",           "{",       "}",
                           "[1,]",      "{\"a\":1,}",  "{a:1}",   "{'a':1}",
                           "{\"a\" 1}", "{\"a\":}",    "[1 2]",   "1 2",
                           "01",        "+1",          ".5",      "1.",
                           "1e",        "-",           "nul",     "True",
                           "NaN",       "Infinity",    "\"a",     "\"\\",
                           "\"\\x\"",   "\"\\u12g4\"", "\"\\u12", "\"line\nbreak\"",
                           "// c\n1",   "[1]]"}) {
    const base::Status status = CheckJson(text);
    EXPECT_EQ(status.code(), base::StatusCode::kInvalidArgument) << text;
  }
}

TEST(CheckJsonTest, LimitsTheDepth) {
  EXPECT_TRUE(CheckJson(Nested(200)).ok());
  EXPECT_FALSE(CheckJson(Nested(201)).ok());
  EXPECT_FALSE(CheckJson(std::string(5'000'000, '[')).ok());
  EXPECT_FALSE(CheckJson(std::string(100'000, '{')).ok());
}

TEST(CheckJsonTest, ReportsThePosition) {
  EXPECT_NE(CheckJson("[1,]").message().find("byte 3"), std::string::npos)
      << CheckJson("[1,]").message();
}

TEST(CheckJsonTest, StopsAtTheGivenSize) {
  EXPECT_TRUE(CheckJson(std::string_view("[1]garbage", 3)).ok());
  EXPECT_FALSE(CheckJson(std::string_view("[1]", 2)).ok());
  EXPECT_FALSE(CheckJson(std::string_view("1\0", 2)).ok());
}

}  // namespace
}  // namespace nereid::abi
