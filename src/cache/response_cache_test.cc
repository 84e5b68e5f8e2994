// SPDX-License-Identifier: Apache-2.0
#include "cache/response_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "cache/testing/memory_cache.h"

namespace nereid::cache {
namespace {

using base::Status;
using base::StatusCode;
using ::testing::HasSubstr;

class ResponseCacheTest : public ::testing::Test {
 protected:
  void Make(ResponseCache::Limits limits = {}) {
    auto cache = ResponseCache::Create("memory", MemoryCache::MakeLibrary(), "{}", limits);
    ASSERT_TRUE(cache.ok());
    cache_ = std::move(cache).value();
  }
  Status Insert(const std::string& key, const std::string& blob) {
    return cache_->Insert(key, blob.size(), [&](std::span<char> out) {
      blob.copy(out.data(), out.size());
      return Status::Ok();
    });
  }
  Status Lookup(const std::string& key, std::string* blob) {
    return cache_->Lookup(key, [&](std::span<const char> found) {
      blob->assign(found.data(), found.size());
      return Status::Ok();
    });
  }
  std::unique_ptr<ResponseCache> cache_;
};

TEST_F(ResponseCacheTest, KeepsBlobsInAPlugIn) {
  Make();
  std::string blob;
  EXPECT_EQ(Lookup("k", &blob).code(), StatusCode::kNotFound);
  EXPECT_TRUE(Insert("k", "value").ok());
  EXPECT_EQ(Insert("k", "other").code(), StatusCode::kAlreadyExists);
  EXPECT_TRUE(Lookup("k", &blob).ok());
  EXPECT_EQ(blob, "value");
}

TEST_F(ResponseCacheTest, APlugInsFailureIsAFailure) {
  Make();
  ASSERT_TRUE(Insert("k", "value").ok());
  std::string blob;
  MemoryCache::Instance().Fail("broken");
  EXPECT_EQ(Lookup("k", &blob).message(), "broken");
  EXPECT_EQ(Insert("l", "value").message(), "broken");
  MemoryCache::Instance().Fail("");
  MemoryCache::Instance().ForgetToCopy();
  EXPECT_THAT(Lookup("k", &blob).message(), HasSubstr("did not copy it"));
}

TEST_F(ResponseCacheTest, ResultsOfReaderAndWriterAreReturned) {
  Make();
  ASSERT_TRUE(Insert("k", "value").ok());
  EXPECT_EQ(cache_->Lookup("k", [](auto) { return Status::Internal("garbage"); }).message(),
            "garbage");
  EXPECT_EQ(cache_->Insert("l", 1, [](auto) { return Status::Internal("cannot"); }).message(),
            "cannot");
  EXPECT_EQ(MemoryCache::Instance().entries().count("l"), 0u);
}

TEST_F(ResponseCacheTest, ExcessWorkIsRefused) {
  ResponseCache::Limits limits;
  limits.lookup_threads = 1;
  limits.waiting_lookups = 2;
  limits.insert_threads = 1;
  limits.waiting_insert_bytes = 100;
  Make(limits);
  std::promise<void> go;
  const std::shared_future<void> gate = go.get_future().share();
  EXPECT_TRUE(cache_->PostLookup([gate] { gate.wait(); }));
  EXPECT_TRUE(cache_->PostLookup([gate] { gate.wait(); }));
  EXPECT_FALSE(cache_->PostLookup([] {}));
  EXPECT_TRUE(cache_->PostInsert(1000, [gate] { gate.wait(); })) << "one always gets in";
  EXPECT_FALSE(cache_->PostInsert(1, [] {}));
  go.set_value();
  std::promise<void> done;
  while (!cache_->PostInsert(60, [&] { done.set_value(); })) std::this_thread::yield();
  done.get_future().wait();
}

TEST_F(ResponseCacheTest, PostedWorkIsDoneBeforeTheEnd) {
  Make();
  std::atomic<int> done{0};
  ResponseCache& cache = *cache_;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(cache.PostLookup([&] {
      ++done;
      cache.PostInsert(1, [&] { ++done; });
    }));
  }
  cache_.reset();
  EXPECT_EQ(done, 100);
}

TEST_F(ResponseCacheTest, AFailedStartNamesTheCache) {
  const auto failed =
      ResponseCache::Create("memory", MemoryCache::MakeLibrary(), R"({"fail":""})", {}).status();
  EXPECT_EQ(failed.message(), "failed to start response cache 'memory': told to fail");
  EXPECT_EQ(ResponseCache::Open("/nonexistent", "../x", "{}").status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_THAT(ResponseCache::Open("/nonexistent", "x", "{}").status().message(),
              HasSubstr("Searched: /nonexistent/x"));
}

}  // namespace
}  // namespace nereid::cache
