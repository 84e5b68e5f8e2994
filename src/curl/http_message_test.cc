// SPDX-License-Identifier: Apache-2.0
#include "curl/http_message.h"

#include <gtest/gtest.h>

namespace nereid::curl {
namespace {

using base::StatusCode;

TEST(CheckRequest, RefusesWhatCannotBeSent) {
  const HttpRequest good = {.url = "http://h/", .fields = {{"x-a", "b c\t"}, {"empty", ""}}};
  EXPECT_TRUE(CheckRequest(good).ok());
  for (const auto& [name, value] : HttpFields{
           {"", "v"}, {"a b", "v"}, {"a:", "v"}, {"a", "b\r\nc: d"}, {"a", std::string(1, '\0')}}) {
    HttpRequest bad = good;
    bad.fields = {{name, value}};
    EXPECT_EQ(CheckRequest(bad).code(), StatusCode::kInvalidArgument) << name;
  }
  for (const char* url : {"", "ftp://h/", "file:///etc/passwd", "h:80/", " http://h/"}) {
    HttpRequest bad = good;
    bad.url = url;
    EXPECT_EQ(CheckRequest(bad).code(), StatusCode::kInvalidArgument) << url;
  }
  HttpRequest bad = good;
  bad.method = "GET / HTTP/1.1\r\n";
  EXPECT_EQ(CheckRequest(bad).code(), StatusCode::kInvalidArgument);
  bad = good;
  bad.range = ByteRange{5, 0};
  EXPECT_EQ(CheckRequest(bad).code(), StatusCode::kInvalidArgument);
  bad.range = ByteRange{UINT64_MAX, 2};
  EXPECT_EQ(CheckRequest(bad).code(), StatusCode::kInvalidArgument);
  const HttpRequest secret = {.url = "ftp://user:pw@h/x?sig=s"};
  EXPECT_EQ(CheckRequest(secret).message(),
            "the URL 'ftp://h/x' begins neither with http:// nor with https://");
}

TEST(ResponseHead, KeepsTheFieldsOfTheLastHead) {
  HttpFields fields;
  ResponseHead head(&fields);
  for (const char* line : {"HTTP/1.1 100 Continue\r\n", "a: 1\r\n", "\r\n", "HTTP/1.1 200 OK\r\n",
                           "ETag:  \"x:y\" \r\n", "Empty:\r\n", "\r\n"}) {
    EXPECT_TRUE(head.Take(line));
  }
  EXPECT_EQ(fields, (HttpFields{{"etag", "\"x:y\""}, {"empty", ""}}));
  EXPECT_EQ(FieldOf(fields, "ETAG"), "\"x:y\"");
  EXPECT_EQ(FieldOf(fields, "a"), "");
}

TEST(ResponseHead, IsBounded) {
  HttpFields fields;
  ResponseHead head(&fields);
  int taken = 0;
  while (head.Take("a: b\r\n")) ASSERT_LT(++taken, 1000);
  EXPECT_EQ(taken, 200);
  ResponseHead large(&fields);
  EXPECT_TRUE(large.Take("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(large.Take("a: " + std::string(60'000, 'b') + "\r\n"));
  EXPECT_FALSE(large.Take("a: " + std::string(60'000, 'b') + "\r\n"));
}

}  // namespace
}  // namespace nereid::curl
