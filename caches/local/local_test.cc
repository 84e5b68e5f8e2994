// SPDX-License-Identifier: Apache-2.0
// The local cache behind the server's side of the cache API, which is linked in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache/response_cache.h"

namespace nereid::caches {
namespace {

using base::Status;
using base::StatusCode;
using ::testing::HasSubstr;

base::Result<std::unique_ptr<cache::ResponseCache>> Open(const std::string& config) {
  return cache::ResponseCache::Create(
      "local",
      cache::CacheLibrary::FromEntryPoints("(linked)",
                                           {TRITONCACHE_CacheInitialize, TRITONCACHE_CacheFinalize,
                                            TRITONCACHE_CacheLookup, TRITONCACHE_CacheInsert}),
      config, {});
}

Status Insert(cache::ResponseCache& cache, const std::string& key, const std::string& blob) {
  return cache.Insert(key, blob.size(), [&](std::span<char> out) {
    blob.copy(out.data(), out.size());
    return Status::Ok();
  });
}

std::string Lookup(cache::ResponseCache& cache, const std::string& key) {
  std::string blob;
  const Status status = cache.Lookup(key, [&](std::span<const char> found) {
    blob.assign(found.data(), found.size());
    return Status::Ok();
  });
  return status.ok() ? blob : status.code() == StatusCode::kNotFound ? "(none)" : status.message();
}

TEST(LocalCacheTest, KeepsWhatFits) {
  auto cache = Open(R"({"size":"4096"})");
  ASSERT_TRUE(cache.ok()) << cache.status().message();
  EXPECT_EQ(Lookup(**cache, "a"), "(none)");
  EXPECT_TRUE(Insert(**cache, "a", "value").ok());
  EXPECT_EQ(Lookup(**cache, "a"), "value");
  EXPECT_EQ(Insert(**cache, "a", "other").code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(Lookup(**cache, "a"), "value");
  const Status large = Insert(**cache, "b", std::string(4096, 'x'));
  EXPECT_EQ(large.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(large.message(), "Requested byte_size: 4353 is greater than total cache size: 4096");
  ASSERT_TRUE(Insert(**cache, "c", std::string(3800, 'x')).ok());
  EXPECT_EQ(Lookup(**cache, "a"), "(none)") << "it made room";
}

TEST(LocalCacheTest, AFailedCopyLeavesNothing) {
  auto cache = Open(R"({"size":"1024"})");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ((*cache)->Insert("a", 600, [](auto) { return Status::Internal("no"); }).message(),
              "no");
  }
  EXPECT_EQ(Lookup(**cache, "a"), "(none)");
  EXPECT_TRUE(Insert(**cache, "b", std::string(600, 'x')).ok()) << "the room was given back";
}

// As in Triton, where it is the way to see what a full cache does.
TEST(LocalCacheTest, ASmallCacheServesAndKeepsNothing) {
  auto cache = Open(R"({"size":"200"})");
  ASSERT_TRUE(cache.ok()) << cache.status().message();
  EXPECT_EQ(Insert(**cache, "a", "value").message(),
            "Requested byte_size: 262 is greater than total cache size: 200");
  EXPECT_EQ(Lookup(**cache, "a"), "(none)");
}

TEST(LocalCacheTest, SettingsAreChecked) {
  const auto refusal = [](const std::string& config) { return Open(config).status().message(); };
  const std::string prefix = "failed to start response cache 'local': ";
  EXPECT_THAT(refusal("{}"), HasSubstr("--cache-config=local,size=<bytes>"));
  EXPECT_EQ(refusal(R"({"size":"0"})"),
            prefix + "setting 'size' is '0', but must be an integer from 1 to 9223372036854775807");
  EXPECT_THAT(refusal(R"({"size":"1M"})"), HasSubstr("'1M'"));
  EXPECT_THAT(refusal(R"({"size":"-1"})"), HasSubstr("'-1'"));
  EXPECT_THAT(refusal(R"({"size":99999})"), HasSubstr("must be a string"));
  EXPECT_THAT(refusal(R"({"size":"4096","sizes":"1"})"),
              HasSubstr("unknown setting 'sizes'; there are: size"));
  EXPECT_THAT(refusal("[]"), HasSubstr("JSON object"));
}

}  // namespace
}  // namespace nereid::caches
