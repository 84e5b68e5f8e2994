// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/s3_protocol.h"

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

constexpr char kEmptyList[] = "<ListBucketResult/>";
const std::string kMd5 = "0123456789abcdef0123456789abcdef";

FakeReply EmptyList(const curl::HttpRequest&) { return {{200, {}, kEmptyList}, {}}; }

/// Answers reads of an object that consists of ten digits.
FakeReply Digits(const curl::HttpRequest&) {
  return {{206, {{"Content-Range", "bytes 2-4/10"}, {"ETag", "\"" + kMd5 + "\""}}, "234"}, {}};
}

FakeReply Error(int status, const std::string& code, const std::string& more = "") {
  return {{status, {}, "<Error><Code>" + code + "</Code>" + more + "</Error>"}, {}};
}

class S3ProtocolTest : public ::testing::Test {
 protected:
  static void UseKeys(FakeContext& context) {
    context.variables["AWS_ACCESS_KEY_ID"] = "AKIAIOSFODNN7EXAMPLE";
    context.variables["AWS_SECRET_ACCESS_KEY"] = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  }
  static ObjectInfo Object() { return {"m/a b.bin", 10, kMd5}; }
};

TEST_F(S3ProtocolTest, ListsWithASignature) {
  FakeContext context(EmptyList);
  UseKeys(context);
  context.variables["AWS_SESSION_TOKEN"] = "token";
  const auto store = Open(context, "s3://examplebucket/m");
  ASSERT_TRUE(store->List("m/", true, "next+page").ok());
  const curl::HttpRequest request = context.requests().at(0);
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.url,
            "https://examplebucket.s3.us-east-1.amazonaws.com/?continuation-token=next%2Bpage&"
            "delimiter=%2F&encoding-type=url&list-type=2&max-keys=1000&prefix=m%2F");
  EXPECT_EQ(FieldOf(request.fields, "x-amz-date"), "20130524T000000Z");
  EXPECT_EQ(FieldOf(request.fields, "x-amz-security-token"), "token");
  EXPECT_THAT(std::string(FieldOf(request.fields, "Authorization")),
              HasSubstr("Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                        "SignedHeaders=host;x-amz-content-sha256;x-amz-date;"
                        "x-amz-security-token, Signature="));
  EXPECT_FALSE(request.follow_redirects);
  EXPECT_EQ(FieldOf(request.fields, "Host"), "") << "the client writes it";
}

TEST_F(S3ProtocolTest, ListsWithoutCredentials) {
  FakeContext context(EmptyList);
  context.variables["AWS_EC2_METADATA_DISABLED"] = "true";
  const auto store = Open(context, "s3://https://minio:9000/bucket/m");
  ASSERT_TRUE(store->List("", false, "").ok());
  const curl::HttpRequest request = context.requests().at(0);
  EXPECT_EQ(request.url,
            "https://minio:9000/bucket?encoding-type=url&list-type=2&max-keys=1000&prefix=");
  EXPECT_TRUE(request.fields.empty());
}

TEST_F(S3ProtocolTest, ReadsAPartOfOneVersion) {
  FakeContext context(Digits);
  UseKeys(context);
  const auto store = Open(context, "s3://localhost:9000/bucket");
  std::string content;
  ASSERT_TRUE(ReadInto(*store, Object(), 2, 3, &content).ok());
  EXPECT_EQ(content, "234");
  const curl::HttpRequest request = context.requests().at(0);
  EXPECT_EQ(request.url, "http://localhost:9000/bucket/m/a%20b.bin");
  EXPECT_EQ(FieldOf(request.fields, "If-Match"), "\"" + kMd5 + "\"");
  ASSERT_TRUE(request.range.has_value());
  EXPECT_EQ(request.range->offset, 2u);
  EXPECT_EQ(request.range->size, 3u);
}

TEST_F(S3ProtocolTest, AnotherVersionIsNotRead) {
  for (const FakeReply& reply :
       {FakeReply{{206, {{"Content-Range", "bytes 2-4/10"}, {"ETag", "\"new\""}}, "xxx"}, {}},
        Error(412, "PreconditionFailed"), Error(416, "InvalidRange"),
        FakeReply{{206, {{"Content-Range", "bytes 2-4/11"}}, "xxx"}, {}}}) {
    FakeContext context([&](const curl::HttpRequest&) { return reply; });
    UseKeys(context);
    const auto store = Open(context, "s3://bucket");
    std::string content;
    EXPECT_EQ(ReadInto(*store, Object(), 2, 3, &content).code(), StatusCode::kAlreadyExists);
    EXPECT_EQ(content, "");
  }
}

TEST_F(S3ProtocolTest, LearnsTheRegionOfTheBucket) {
  FakeContext context([](const curl::HttpRequest& request) -> FakeReply {
    if (request.url.find("eu-west-1") == std::string::npos) {
      return {{301, {{"x-amz-bucket-region", "eu-west-1"}}, ""}, {}};
    }
    return {{200, {}, kEmptyList}, {}};
  });
  UseKeys(context);
  const auto store = Open(context, "s3://bucket");
  EXPECT_TRUE(store->List("", false, "").ok());
  EXPECT_TRUE(store->List("", false, "").ok());
  const auto requests = context.requests();
  ASSERT_EQ(requests.size(), 3u) << "it is learned once";
  EXPECT_TRUE(requests[2].url.starts_with("https://bucket.s3.eu-west-1.amazonaws.com/?"));
  EXPECT_THAT(std::string(FieldOf(requests[2].fields, "Authorization")),
              HasSubstr("/eu-west-1/s3/aws4_request"));
}

TEST_F(S3ProtocolTest, LearnsTheRegionFromTheErrorOfAnotherServer) {
  FakeContext context([](const curl::HttpRequest& request) {
    const std::string_view field = FieldOf(request.fields, "Authorization");
    return field.find("/garage/s3/") == field.npos
               ? Error(400, "AuthorizationHeaderMalformed", "<Region>garage</Region>")
               : EmptyList(request);
  });
  UseKeys(context);
  EXPECT_TRUE(Open(context, "s3://localhost:9000/bucket")->List("", false, "").ok());
  EXPECT_EQ(context.requests().size(), 2u);
}

TEST_F(S3ProtocolTest, AServerCannotSendTheClientInCircles) {
  int count = 0;
  FakeContext context([&](const curl::HttpRequest&) -> FakeReply {
    return {{301, {{"x-amz-bucket-region", ++count % 2 == 0 ? "r-a" : "r-b"}}, ""}, {}};
  });
  UseKeys(context);
  EXPECT_EQ(Open(context, "s3://bucket")->List("", false, "").status().code(),
            StatusCode::kInternal);
  EXPECT_LE(context.requests().size(), 3u);
  FakeContext evil([](const curl::HttpRequest&) -> FakeReply {
    return {{301, {{"x-amz-bucket-region", "evil.example/"}}, ""}, {}};
  });
  UseKeys(evil);
  EXPECT_FALSE(Open(evil, "s3://bucket")->List("", false, "").ok());
  EXPECT_EQ(evil.requests().size(), 1u);
}

TEST_F(S3ProtocolTest, RegionsHaveAnOrder) {
  const auto region_of = [](FakeContext& context) {
    EXPECT_TRUE(Open(context, "s3://bucket")->List("", false, "").ok());
    const std::string url = context.requests().back().url;
    return url.substr(18, url.find(".amazonaws") - 18);
  };
  FakeContext context(EmptyList);
  UseKeys(context);
  EXPECT_EQ(region_of(context), "us-east-1");
  context.variables["AWS_DEFAULT_REGION"] = "eu-west-1";
  EXPECT_EQ(region_of(context), "eu-west-1");
  context.variables["AWS_REGION"] = "eu-west-2";
  EXPECT_EQ(region_of(context), "eu-west-2");
  context.variables["TRITON_CLOUD_CREDENTIAL_PATH"] = context.Write(
      "c.json", R"({"s3": {"": {"key_id": "a", "secret_key": "b", "region": "eu-west-3"}}})");
  EXPECT_EQ(region_of(context), "eu-west-3");
}

TEST_F(S3ProtocolTest, TheEnvironmentCanNameAServer) {
  FakeContext context(EmptyList);
  UseKeys(context);
  context.variables["AWS_ENDPOINT_URL"] = "http://general:1";
  context.variables["AWS_ENDPOINT_URL_S3"] = "http://special:2/";
  EXPECT_TRUE(Open(context, "s3://bucket")->List("", false, "").ok());
  EXPECT_TRUE(context.requests().back().url.starts_with("http://special:2/bucket?"));
  context.variables["AWS_ENDPOINT_URL_S3"] = "nonsense";
  EXPECT_EQ(OpenObjectStore("s3://bucket", context.Get()).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(OpenObjectStore("s3://localhost:1/bucket", context.Get()).ok());
}

TEST_F(S3ProtocolTest, AnEncryptedObjectIsListedAgainWithoutChecksum) {
  FakeContext context([](const curl::HttpRequest& request) -> FakeReply {
    if (request.range) {
      return {{206,
               {{"Content-Range", "bytes 0-9/10"}, {"x-amz-server-side-encryption", "aws:kms"}},
               "0123456789"},
              {}};
    }
    return {{200,
             {},
             "<ListBucketResult><Contents><Key>k</Key><Size>10</Size><ETag>" + kMd5 +
                 "</ETag></Contents></ListBucketResult>"},
            {}};
  });
  UseKeys(context);
  const auto store = Open(context, "s3://bucket");
  ObjectInfo object = store->List("", false, "")->objects.at(0);
  EXPECT_TRUE(object.checksum.has_value());
  std::string content;
  EXPECT_EQ(ReadInto(*store, object, 0, 10, &content).code(), StatusCode::kAlreadyExists);
  object = store->List("", false, "")->objects.at(0);
  EXPECT_FALSE(object.checksum.has_value());
  EXPECT_TRUE(ReadInto(*store, object, 0, 10, &content).ok());
  EXPECT_EQ(content, "0123456789");
}

TEST_F(S3ProtocolTest, ReadsTheCredentialFileAgainAfterARefusal) {
  std::string valid = "OLD";
  FakeContext context([&](const curl::HttpRequest& request) {
    const std::string_view field = FieldOf(request.fields, "Authorization");
    return field.find("Credential=" + valid + "/") == field.npos
               ? Error(403, "InvalidAccessKeyId", "<Message>No such key.</Message>")
               : EmptyList(request);
  });
  const auto write = [&](const std::string& id) {
    return context.Write(
        "c.json", R"({"s3": {"": {"key_id": ")" + id + R"(", "secret_key": "verysecret"}}})");
  };
  context.variables["TRITON_CLOUD_CREDENTIAL_PATH"] = write("OLD");
  const auto store = Open(context, "s3://bucket");
  EXPECT_TRUE(store->List("", false, "").ok());
  valid = "NEW";
  write("NEW");
  EXPECT_TRUE(store->List("", false, "").ok());
  EXPECT_EQ(context.requests().size(), 3u);
  valid = "OTHER";
  const auto refused = store->List("p", false, "");
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(context.requests().size(), 4u) << "the same credentials are not tried twice";
  const std::string message = refused.status().message();
  EXPECT_THAT(message, HasSubstr("cannot list 's3://bucket/p': the store answered with status 403 "
                                 "InvalidAccessKeyId (No such key.). The credentials are of the "
                                 "entry '' in the file '"));
  EXPECT_THAT(message, HasSubstr("s3:ListBucket on the bucket and s3:GetObject on its objects"));
  EXPECT_EQ(message.find("verysecret"), std::string::npos);
}

}  // namespace
}  // namespace nereid::repository::storage
