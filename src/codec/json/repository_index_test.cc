// SPDX-License-Identifier: Apache-2.0
#include "codec/json/repository_index.h"

#include <gtest/gtest.h>

namespace nereid::codec::json {
namespace {

TEST(RepositoryIndexTest, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(EncodeRepositoryIndex({{"m", "1", "UNAVAILABLE", "no \xe2\x82"}}),
            "[{\"name\":\"m\",\"version\":\"1\",\"state\":\"UNAVAILABLE\",\"reason\":\"no "
            "\uFFFD\uFFFD\"}]");
}

TEST(RepositoryIndexTest, LeavesOutEmptyFields) {
  EXPECT_EQ(
      EncodeRepositoryIndex(
          {{"a", "", "", ""}, {"b", "1", "READY", ""}, {"c", "2", "UNAVAILABLE", "unloaded"}}),
      R"([{"name":"a"},{"name":"b","version":"1","state":"READY"},)"
      R"({"name":"c","version":"2","state":"UNAVAILABLE","reason":"unloaded"}])");
  EXPECT_EQ(EncodeRepositoryIndex({}), "[]");
}

TEST(RepositoryIndexTest, DecodesTheRequest) {
  EXPECT_FALSE(*DecodeRepositoryIndexRequest(""));
  EXPECT_FALSE(*DecodeRepositoryIndexRequest("{}"));
  EXPECT_TRUE(*DecodeRepositoryIndexRequest(R"({"ready":true})"));
  EXPECT_EQ(DecodeRepositoryIndexRequest(R"({"ready":1})").status().message(),
            "Unable to parse 'ready': attempt to access JSON non-boolean as boolean");
  EXPECT_FALSE(DecodeRepositoryIndexRequest("{").ok());
}

}  // namespace
}  // namespace nereid::codec::json
