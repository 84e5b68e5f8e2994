// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/cloud_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repository/storage/testing/open_store.h"

namespace nereid::repository::storage {
namespace {

using base::Status;
using base::StatusCode;
using curl::testing::FakeReply;
using testing::FakeContext;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Open;
using testing::ReadInto;

/// The parts that the three protocols share, through S3's.
class CloudStoreTest : public ::testing::Test {
 protected:
  CloudStoreTest() {
    context_.variables["AWS_ACCESS_KEY_ID"] = "AKID";
    context_.variables["AWS_SECRET_ACCESS_KEY"] = "KEY";
  }
  Status List(FakeReply reply) {
    reply_ = std::move(reply);
    return store_->List("p/", false, "").status();
  }
  Status Read(FakeReply reply, uint64_t offset = 0, uint64_t size = 4) {
    reply_ = std::move(reply);
    content_.clear();
    return ReadInto(*store_, {"k", 4, "v"}, offset, size, &content_);
  }

  FakeReply reply_;
  std::string content_;
  FakeContext context_{[this](const curl::HttpRequest&) { return reply_; }};
  std::unique_ptr<ObjectStore> store_ = Open(context_, "s3://bucket/p");
};

TEST_F(CloudStoreTest, ListsHaveOneErrorForEachCause) {
  EXPECT_EQ(List({{}, Status::Unavailable("no route")}).message(),
            "cannot list 's3://bucket/p/': no route");
  EXPECT_EQ(List({{200, {}, "<List"}, Status::Unavailable("lost")}).code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(List({{503, {}, ""}, {}}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(List({{404, {}, ""}, {}}).code(), StatusCode::kNotFound);
  EXPECT_EQ(List({{403, {}, ""}, {}}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(List({{200, {}, ""}, {}}).code(), StatusCode::kInternal);
  EXPECT_EQ(List({{302, {}, ""}, {}}).code(), StatusCode::kInternal);
  EXPECT_EQ(List({{200,
                   {},
                   "<ListBucketResult><Contents><Key>q</Key><Size>1</Size><ETag>v</ETag>"
                   "</Contents></ListBucketResult>"},
                  {}})
                .code(),
            StatusCode::kInternal)
      << "of another prefix";
  EXPECT_EQ(List({{200, {}, std::string((16 << 20) + 1, ' ')}, {}}).code(), StatusCode::kInternal);
}

TEST_F(CloudStoreTest, ReadsAreWholeOrFail) {
  const curl::HttpFields range = {{"Content-Range", "bytes 0-3/4"}, {"ETag", "\"v\""}};
  EXPECT_TRUE(Read({{206, range, "abcd"}, {}}).ok());
  EXPECT_EQ(content_, "abcd");
  EXPECT_EQ(Read({{206, range, "abc"}, {}}).code(), StatusCode::kUnavailable);
  EXPECT_EQ(Read({{206, range, "ab"}, Status::Unavailable("lost")}).code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(Read({{206, range, "abcde"}, {}}).code(), StatusCode::kInternal);
  EXPECT_EQ(content_, "") << "nothing of a body that is too long for one piece";
  EXPECT_EQ(Read({{404, {}, "abcd"}, {}}).code(), StatusCode::kNotFound);
  EXPECT_EQ(content_, "") << "nothing of an error";
  EXPECT_TRUE(Read({{200, {{"ETag", "\"v\""}}, "abcd"}, {}}).ok());
}

TEST_F(CloudStoreTest, ReadsOnlyWithinTheObject) {
  EXPECT_EQ(Read({}, 1, 4).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Read({}, UINT64_MAX, 2).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(Read({}, 4, 0).ok());
  EXPECT_TRUE(context_.requests().empty());
}

TEST_F(CloudStoreTest, TheSinksErrorIsReturnedAsItIs) {
  reply_ = {{206, {{"Content-Range", "bytes 0-3/4"}}, "abcd"}, {}};
  const Status status = store_->Read(
      {"k", 4, "v"}, 0, 4, [](std::string_view) { return Status::Unsupported("the disk is full"); },
      nullptr);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(), "the disk is full");
}

TEST_F(CloudStoreTest, CancellationIsPassedOn) {
  reply_ = {{206, {{"Content-Range", "bytes 0-3/4"}}, "abcd"}, {}};
  const Status status = store_->Read(
      {"k", 4, "v"}, 0, 4, [](std::string_view) { return Status(); }, [] { return true; });
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
}

TEST_F(CloudStoreTest, AServerCannotPutCredentialsIntoTheLog) {
  FakeContext context([](const curl::HttpRequest& request) -> FakeReply {
    const std::string field(curl::FieldOf(request.fields, "Authorization"));
    return {{400, {}, "<Error><Message>You sent " + field + "</Message></Error>"}, {}};
  });
  context.variables = context_.variables;
  const auto store = Open(context, "s3://bucket");
  const Status status = store->List("", false, "").status();
  EXPECT_THAT(status.message(), HasSubstr("status 400"));
  EXPECT_THAT(status.message(), Not(HasSubstr("Signature")));
}

TEST(OpenObjectStore, ReturnsThePrefixAndANameWithoutSecrets) {
  FakeContext context(testing::NoServer);
  const auto azure = OpenObjectStore("as://acc/cont//a/b/?sv=1&sig=secret", context.Get());
  ASSERT_TRUE(azure.ok()) << azure.status().message();
  EXPECT_EQ(azure->prefix, "a/b");
  EXPECT_EQ(azure->name, "as://acc/cont/a/b");
  EXPECT_EQ(OpenObjectStore("gs://b", context.Get())->prefix, "");
  EXPECT_EQ(OpenObjectStore("hdfs://b", context.Get()).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(context.requests().empty());
}

}  // namespace
}  // namespace nereid::repository::storage
