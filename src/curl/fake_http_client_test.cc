// SPDX-License-Identifier: Apache-2.0
#include "curl/testing/fake_http_client.h"

#include <gtest/gtest.h>

namespace nereid::curl::testing {
namespace {

using base::Status;
using base::StatusCode;

TEST(FakeHttpClient, DeliversAsTheContractSays) {
  FakeHttpClient client(
      [](const HttpRequest&) {
        return FakeReply{{200, {{"ETag", "e"}}, "0123456789"}};
      },
      4);
  const auto collected = client.Send({.url = "http://h/1"});
  ASSERT_TRUE(collected.ok());
  EXPECT_EQ(collected->body, "0123456789");
  EXPECT_EQ(collected->field("etag"), "e");
  std::vector<std::string> pieces;
  int heads = 0;
  const HttpReceiver receiver = {.head = [&](const HttpResponse&) { return ++heads, Status(); },
                                 .body =
                                     [&](std::string_view piece) {
                                       pieces.emplace_back(piece);
                                       return Status();
                                     }};
  const auto streamed = client.Send({.url = "http://h/2"}, receiver);
  ASSERT_TRUE(streamed.ok());
  EXPECT_EQ(streamed->body, "");
  EXPECT_EQ(pieces, (std::vector<std::string>{"0123", "4567", "89"}));
  EXPECT_EQ(heads, 1);
  const auto bounded = client.Send({.url = "http://h/3", .max_body = 5});
  EXPECT_EQ(bounded.status().code(), StatusCode::kInternal);
  EXPECT_EQ(client.requests().size(), 3u);
}

TEST(FakeHttpClient, FailsBeforeAndBehindTheBody) {
  FakeHttpClient client([](const HttpRequest& request) -> FakeReply {
    if (request.url == "http://h/none") return {{}, Status::Unavailable("refused")};
    return {{200, {}, "abc"}, Status::Unavailable("lost")};
  });
  EXPECT_EQ(client.Send({.url = "http://h/none"}).status().message(), "refused");
  std::string got;
  const auto cut = client.Send({.url = "http://h/cut"}, {.body = [&](std::string_view piece) {
                                 got += piece;
                                 return Status();
                               }});
  EXPECT_EQ(cut.status().message(), "lost");
  EXPECT_EQ(got, "abc");
}

}  // namespace
}  // namespace nereid::curl::testing
