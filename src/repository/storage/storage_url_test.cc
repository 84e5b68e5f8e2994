// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/storage_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::repository::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the parts as one line, for comparison.
std::string Parts(std::string_view url) {
  const auto parts = ParseStorageUrl(url);
  if (!parts.ok()) return "error";
  return BucketName(*parts) + " | " + parts->prefix +
         (parts->query.empty() ? "" : " ? " + parts->query);
}

TEST(ParseStorageUrl, ReadsEveryForm) {
  const std::pair<const char*, const char*> cases[] = {
      {"s3://bucket", "s3://bucket | "},
      {"s3://bucket/", "s3://bucket | "},
      {"s3://bucket/a/b", "s3://bucket | a/b"},
      {"s3://my.bucket-1_x//a///b//", "s3://my.bucket-1_x | a/b"},
      {"s3://localhost:9000/bucket/a", "s3://http://localhost:9000/bucket | a"},
      {"s3://localhost/bucket/a", "s3://localhost | bucket/a"},
      {"s3://http://Host:80/bucket", "s3://http://host:80/bucket | "},
      {"s3://https://host/bucket/a b", "s3://https://host/bucket | a b"},
      {"s3://https://host:09/bucket", "s3://https://host:9/bucket | "},
      {"s3://http://[::1]:9000//bucket", "s3://http://[::1]:9000/bucket | "},
      {"s3://127.0.0.1:1//bucket/x", "s3://http://127.0.0.1:1/bucket | x"},
      {"gs://bucket/a/b/", "gs://bucket | a/b"},
      {"as://account/container/a", "as://account/container | a"},
      {"as://Account.blob.core.windows.net/container", "as://account/container | "},
      {"as://a.blob.core.chinacloudapi.cn/c/m", "as://a/c | m"},
      {"as://account/$root/a", "as://account/$root | a"},
      {"as://account/container/a?sv=1&sig=x/y", "as://account/container | a ? sv=1&sig=x/y"},
  };
  for (const auto& [url, parts] : cases) EXPECT_EQ(Parts(url), parts) << url;
  EXPECT_EQ(ParseStorageUrl("as://a.blob.core.chinacloudapi.cn/c")->domain,
            "blob.core.chinacloudapi.cn");
  EXPECT_EQ(ParseStorageUrl("s3://bucket")->endpoint, "");
}

TEST(ParseStorageUrl, RefusesHostileForms) {
  for (const char* url : {"",
                          "s3",
                          "s3:/bucket",
                          "S3://bucket",
                          "/models",
                          "http://bucket/x",
                          "s3://",
                          "s3:///a",
                          "s3://bucket/../other",
                          "s3://bucket/./a",
                          "s3://bucket/a\\..\\b",
                          "s3://bucket/a?versionId=1",
                          "s3://bucket/a#b",
                          "s3://../a",
                          "s3://-bucket",
                          "s3://buck%65t/a",
                          "s3://bucket name/a",
                          "s3://bücket/a",
                          "s3://user:password@host:80/bucket",
                          "s3://http://user:password@host/bucket",
                          "s3://host:0/bucket",
                          "s3://host:65536/bucket",
                          "s3://host:/bucket",
                          "s3://host:80:80/bucket",
                          "s3://host:8x/bucket",
                          "s3://:80/bucket",
                          "s3://http:///bucket",
                          "s3://http://host:80",
                          "s3://http://host:80/",
                          "s3://ftp://host:80/bucket",
                          "s3://[::1:80/bucket",
                          "s3://http://[::1/bucket",
                          "s3://http://[g::1]:1/bucket",
                          "gs://",
                          "gs://bucket/a/..",
                          "gs://bucket?x",
                          "gs://host:80/bucket",
                          "as://account",
                          "as://account/",
                          "as://evil.example/container",
                          "as://a.b.blob.core.windows.net/container",
                          "as://.blob.core.windows.net/container",
                          "as://account/cont@iner",
                          "as://account/container#x"}) {
    EXPECT_EQ(ParseStorageUrl(url).status().code(), base::StatusCode::kInvalidArgument) << url;
  }
  EXPECT_EQ(Parts(std::string("s3://bucket/a\0b", 14)), "error");
  EXPECT_EQ(Parts("s3://bucket/a\nb"), "error");
  EXPECT_EQ(Parts("s3://bucket/" + std::string(5000, 'a')), "error");
  EXPECT_EQ(Parts("s3://" + std::string(300, 'a') + "/x"), "error");
}

TEST(ParseStorageUrl, ErrorsHaveNoSecrets) {
  for (const char* url :
       {"s3://user:secret@host:80/bucket", "s3://http://user:secret@host/bucket",
        "as://account/?sig=secret", "as://a_b/c?sig=secret", "s3://b/a?X-Amz-Signature=secret"}) {
    const std::string message = ParseStorageUrl(url).status().message();
    EXPECT_THAT(message, Not(HasSubstr("secret"))) << url;
    EXPECT_THAT(message, HasSubstr("expected the form")) << url;
  }
  EXPECT_EQ(ParseStorageUrl("s3://http://u:pw@host/b").status().message(),
            "the repository URL 's3://http://host/b' is not usable: the host or its port is not "
            "valid; expected the form s3://BUCKET/PATH, s3://HOST:PORT/BUCKET/PATH or "
            "s3://https://HOST:PORT/BUCKET/PATH");
}

TEST(IsStorageUrl, KnowsTheSchemes) {
  EXPECT_TRUE(IsStorageUrl("s3://b"));
  EXPECT_TRUE(IsStorageUrl("gs://b"));
  EXPECT_TRUE(IsStorageUrl("as://b"));
  EXPECT_FALSE(IsStorageUrl("/models/s3://"));
  EXPECT_FALSE(IsStorageUrl("s3:/b"));
}

}  // namespace
}  // namespace nereid::repository::storage
