// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/s3_endpoint.h"

#include <gtest/gtest.h>

namespace nereid::repository::storage {
namespace {

TEST(AwsEndpoint, NamesTheBucketInTheHostIfPossible) {
  const S3Endpoint plain = AwsEndpoint("bucket", "us-west-2");
  EXPECT_EQ(plain.url, "https://bucket.s3.us-west-2.amazonaws.com");
  EXPECT_EQ(plain.authority, "bucket.s3.us-west-2.amazonaws.com");
  EXPECT_EQ(plain.root, "");
  const S3Endpoint dotted = AwsEndpoint("my.bucket", "cn-north-1");
  EXPECT_EQ(dotted.url, "https://s3.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(dotted.root, "/my.bucket");
}

TEST(CustomEndpoint, LeavesOutTheUsualPort) {
  const auto tls = CustomEndpoint("https://host:443/", "b", "");
  ASSERT_TRUE(tls.ok());
  EXPECT_EQ(tls->url, "https://host");
  EXPECT_EQ(tls->authority, "host");
  EXPECT_EQ(tls->root, "/b");
  EXPECT_EQ(CustomEndpoint("http://host:443", "b", "")->authority, "host:443");
  EXPECT_EQ(CustomEndpoint("http://[::1]:9000", "b", "")->authority, "[::1]:9000");
  for (const char* bad : {"", "host", "ftp://host", "http://", "https://", "http://host/path",
                          "http://user@host", "http://host?x"}) {
    const auto endpoint = CustomEndpoint(bad, "b", "of the variable AWS_ENDPOINT_URL");
    EXPECT_EQ(endpoint.status().code(), base::StatusCode::kInvalidArgument) << bad;
    EXPECT_NE(endpoint.status().message().find("AWS_ENDPOINT_URL"), std::string::npos);
  }
}

TEST(IsRegion, RefusesWhatWouldChangeTheHost) {
  EXPECT_TRUE(IsRegion("us-gov-west-1"));
  for (const char* bad : {"", "us.evil", "us/evil", "US-EAST-1", "us@evil", "us:1"}) {
    EXPECT_FALSE(IsRegion(bad)) << bad;
  }
  EXPECT_FALSE(IsRegion(std::string(33, 'a')));
}

}  // namespace
}  // namespace nereid::repository::storage
