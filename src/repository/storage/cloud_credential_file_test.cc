// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/cloud_credential_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repository/storage/testing/fake_context.h"

namespace nereid::repository::storage {
namespace {

using testing::FakeContext;
using ::testing::HasSubstr;
using testing::NoServer;
using ::testing::Not;

class CloudCredentialFileTest : public ::testing::Test {
 protected:
  void Use(const std::string& content) {
    context_.variables["TRITON_CLOUD_CREDENTIAL_PATH"] = context_.Write("cloud.json", content);
  }
  base::Result<CloudCredentials> Read(StoreKind kind, const std::string& url) {
    return ReadCloudCredentials(context_.Get(), kind, url);
  }
  FakeContext context_{NoServer};
};

TEST_F(CloudCredentialFileTest, TheLongestBeginningWins) {
  Use(R"({"s3": {"": {"key_id": "all"}, "s3://b": {"key_id": "b"},
                 "s3://b/deep": {"key_id": "deep", "profile": 5}},
          "gs": {"": "PATH_TO_GOOGLE_APPLICATION_CREDENTIALS"}})");
  EXPECT_EQ(Read(StoreKind::kS3, "s3://other/x")->entry->field("key_id"), "all");
  EXPECT_EQ(Read(StoreKind::kS3, "s3://b/x")->entry->field("key_id"), "b");
  const auto deep = Read(StoreKind::kS3, "s3://b/deep/x");
  EXPECT_EQ(deep->entry->field("key_id"), "deep");
  EXPECT_EQ(deep->entry->field("profile"), "") << "not a text";
  EXPECT_THAT(deep->entry->source, HasSubstr("of the entry 's3://b/deep' in the file '"));
  EXPECT_EQ(Read(StoreKind::kGcs, "gs://b")->entry->field("path"),
            "PATH_TO_GOOGLE_APPLICATION_CREDENTIALS");
  const auto azure = Read(StoreKind::kAzure, "as://a/c");
  EXPECT_TRUE(azure->is_used);
  EXPECT_FALSE(azure->entry.has_value());
}

TEST_F(CloudCredentialFileTest, IsNotUsedWithoutTheVariable) {
  const auto none = Read(StoreKind::kS3, "s3://b");
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->is_used);
  EXPECT_FALSE(none->entry.has_value());
}

TEST_F(CloudCredentialFileTest, RefusesABadFileWithoutShowingIt) {
  for (const char* content :
       {"", "secret", "[\"secret\"]", "{\"s3\": \"secret\"}", "{\"s3\": [\"secret\"]}",
        "{\"s3\": {\"s3://b\": 5}}", "{\"s3\": {\"\": {\"key_id\": {\"x\": \"secret\"}}}}",
        "{\"s3\": {\"s3://other\": {\"key_id\": \"secret\"}}}"}) {
    Use(content);
    const auto read = Read(StoreKind::kS3, "s3://b");
    EXPECT_EQ(read.status().code(), base::StatusCode::kInvalidArgument) << content;
    EXPECT_THAT(read.status().message(), Not(HasSubstr("secret")));
    EXPECT_THAT(read.status().message(), HasSubstr("TRITON_CLOUD_CREDENTIAL_PATH"));
  }
  context_.variables["TRITON_CLOUD_CREDENTIAL_PATH"] = "/does/not/exist";
  EXPECT_THAT(Read(StoreKind::kS3, "s3://b").status().message(),
              ::testing::AllOf(
                  HasSubstr("the file '/does/not/exist' (TRITON_CLOUD_CREDENTIAL_PATH) cannot be "
                            "read: "),
                  HasSubstr("No such file or directory")));
}

}  // namespace
}  // namespace nereid::repository::storage
