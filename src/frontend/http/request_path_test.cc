// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/request_path.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid::frontend::http {
namespace {

std::vector<std::string> SegmentsOf(std::string_view target) {
  RequestPath path;
  EXPECT_TRUE(path.Assign(target)) << target;
  PathSegments segments(path.view());
  std::vector<std::string> all;
  for (std::string_view next = segments.Take(); !next.empty(); next = segments.Take()) {
    all.emplace_back(next);
  }
  if (!segments.done()) all.emplace_back("(rest)");
  return all;
}

TEST(RequestPath, IsDecodedSegmentBySegment) {
  using Segments = std::vector<std::string>;
  EXPECT_EQ(SegmentsOf("/v2/models/a%20b?x=%zz"), (Segments{"v2", "models", "a b"}));
  EXPECT_EQ(SegmentsOf("/a%2Fb/%2f/c%2F"), (Segments{"a/b", "/", "c/"}));
  EXPECT_EQ(SegmentsOf("/%76%32/%C3%A9%25"), (Segments{"v2", "\xc3\xa9%"}));
  EXPECT_EQ(SegmentsOf("/a+b"), (Segments{"a+b"}));
  EXPECT_EQ(SegmentsOf("/a/"), (Segments{"a", "(rest)"}));
  EXPECT_EQ(SegmentsOf("//a"), (Segments{"(rest)"}));
  EXPECT_EQ(SegmentsOf("%2Fa"), (Segments{"(rest)"}));
  EXPECT_EQ(SegmentsOf(""), Segments());
}

TEST(RequestPath, MalformedOnesAreRefused) {
  for (const char* target :
       {"/a%", "/a%2", "/%zz", "/%2g", "/%-1", "/%00", "/a%0a", "/%1F", "/%7f", "/a\tb"}) {
    RequestPath path;
    EXPECT_FALSE(path.Assign(target)) << target;
    EXPECT_EQ(path.view().text(), "") << target;
  }
}

TEST(RequestPath, ForgetsTheEarlierOne) {
  RequestPath path;
  ASSERT_TRUE(path.Assign("/a%2Fb"));
  ASSERT_TRUE(path.Assign("/c/d"));
  EXPECT_EQ(path.view().FindSeparator(1), 2u);
}

TEST(QueryValue, IsDecoded) {
  EXPECT_EQ(QueryValue("/x?a=1&name=b%26c+d&name=2", "name"), "b&c d");
  EXPECT_EQ(QueryValue("/x?name", "name"), "");
  EXPECT_EQ(QueryValue("/x?name=%2", "name"), "");
  EXPECT_EQ(QueryValue("/x/name=1", "name"), "");
}

}  // namespace
}  // namespace nereid::frontend::http
