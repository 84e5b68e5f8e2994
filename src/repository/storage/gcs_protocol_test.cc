// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/gcs_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repository/storage/testing/open_store.h"

namespace nereid::repository::storage {
namespace {

using base::StatusCode;
using curl::FieldOf;
using curl::testing::FakeReply;
using testing::FakeContext;
using ::testing::HasSubstr;
using testing::Open;
using testing::ReadInto;

FakeReply Store(const curl::HttpRequest& request) {
  if (request.url.find("metadata") != std::string::npos) {
    return {{200, {}, R"({"access_token": "tok", "expires_in": 3600})"}, {}};
  }
  if (!request.range) return {{200, {}, "{}"}, {}};
  return {{206, {{"Content-Range", "bytes 0-3/4"}, {"x-goog-generation", "17"}}, "abcd"}, {}};
}

TEST(GcsProtocol, ListsWithTheVirtualMachinesToken) {
  FakeContext context(Store);
  const auto store = Open(context, "gs://bucket/m");
  ASSERT_TRUE(store->List("m/", true, "t=").ok());
  ASSERT_TRUE(store->List("", false, "").ok());
  const auto requests = context.requests();
  ASSERT_EQ(requests.size(), 3u) << "one request for the token";
  EXPECT_EQ(FieldOf(requests[0].fields, "Metadata-Flavor"), "Google");
  EXPECT_EQ(requests[1].url,
            "https://storage.googleapis.com/storage/v1/b/bucket/o?delimiter=%2F&fields=items%28name"
            "%2Csize%2Cgeneration%2Cmd5Hash%2Ccrc32c%29%2Cprefixes%2CnextPageToken&maxResults=1000&"
            "pageToken=t%3D&prefix=m%2F");
  EXPECT_EQ(FieldOf(requests[1].fields, "Authorization"), "Bearer tok");
  EXPECT_EQ(requests[2].url.find("delimiter"), std::string::npos);
}

TEST(GcsProtocol, ReadsOneGeneration) {
  FakeContext context(Store);
  context.variables["STORAGE_EMULATOR_HOST"] = "localhost:4443";
  const auto store = Open(context, "gs://bucket");
  std::string content;
  ASSERT_TRUE(ReadInto(*store, {"m/a b", 4, "17"}, 0, 4, &content).ok());
  EXPECT_EQ(content, "abcd");
  const curl::HttpRequest request = context.requests().at(0);
  EXPECT_EQ(request.url,
            "http://localhost:4443/storage/v1/b/bucket/o/m%2Fa%20b?alt=media&"
            "ifGenerationMatch=17");
  EXPECT_EQ(FieldOf(request.fields, "Accept-Encoding"), "gzip");
  EXPECT_EQ(FieldOf(request.fields, "Authorization"), "");
  EXPECT_EQ(ReadInto(*store, {"m/a b", 4, "16"}, 0, 4, &content).code(),
            StatusCode::kAlreadyExists);
}

TEST(GcsProtocol, GetsAnotherTokenAfterARefusal) {
  int tokens = 0;
  FakeContext context([&](const curl::HttpRequest& request) -> FakeReply {
    if (request.url.find("metadata") != std::string::npos) {
      return {{200,
               {},
               R"({"access_token": "tok)" + std::to_string(++tokens) + R"(", "expires_in": 9999})"},
              {}};
    }
    if (FieldOf(request.fields, "Authorization") != "Bearer tok2") {
      return {{401, {}, R"({"error": {"message": "Invalid Credentials"}})"}, {}};
    }
    return {{200, {}, "{}"}, {}};
  });
  EXPECT_TRUE(Open(context, "gs://bucket")->List("", false, "").ok());
  EXPECT_EQ(tokens, 2);
}

TEST(GcsProtocol, ARefusalNamesTheCredentials) {
  FakeContext context([](const curl::HttpRequest& request) -> FakeReply {
    if (request.url.find("metadata") != std::string::npos) return testing::NoServer(request);
    return {{401,
             {},
             R"({"error": {"message": "Anonymous caller.", "errors": [)"
             R"({"reason": "required"}]}})"},
            {}};
  });
  const auto refused = Open(context, "gs://bucket")->List("", false, "");
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(),
              HasSubstr("cannot list 'gs://bucket/': the store answered with status 401 required "
                        "(Anonymous caller.). The credentials are none ("
                        "GOOGLE_APPLICATION_CREDENTIALS is not set"));
}

}  // namespace
}  // namespace nereid::repository::storage
