// SPDX-License-Identifier: Apache-2.0
// The redis cache behind the server's side of the cache API, which is linked in, against a fake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache/response_cache.h"
#include "redis/fake_redis.h"

namespace nereid::caches {
namespace {

using base::Status;
using base::StatusCode;
using ::testing::HasSubstr;
using Mood = FakeRedis::Mood;

class RedisCacheTest : public ::testing::Test {
 protected:
  void SetUp() override { redis_.Start(); }
  void TearDown() override { cache_.reset(); }

  Status Open(const std::string& more = "") {
    auto made = cache::ResponseCache::Create(
        "redis",
        cache::CacheLibrary::FromEntryPoints(
            "(linked)", {TRITONCACHE_CacheInitialize, TRITONCACHE_CacheFinalize,
                         TRITONCACHE_CacheLookup, TRITONCACHE_CacheInsert}),
        redis_.Config(more), {});
    if (!made.ok()) return made.status();
    cache_ = std::move(made).value();
    return Status::Ok();
  }
  Status Insert(const std::string& key, const std::string& blob) {
    return cache_->Insert(key, blob.size(), [&](std::span<char> out) {
      blob.copy(out.data(), out.size());
      return Status::Ok();
    });
  }
  Status Lookup(const std::string& key) {
    return cache_->Lookup(key, [&](std::span<const char> found) {
      found_.assign(found.data(), found.size());
      return Status::Ok();
    });
  }
  FakeRedis redis_;
  std::unique_ptr<cache::ResponseCache> cache_;
  std::string found_;
};

TEST_F(RedisCacheTest, AnEntryIsAHashAsInTriton) {
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Lookup("k").code(), StatusCode::kNotFound);
  const std::string blob("a\0b\r\n", 5);
  ASSERT_TRUE(Insert("k", blob).ok());
  ASSERT_TRUE(Lookup("k").ok());
  EXPECT_EQ(found_, blob);
  const std::map<std::string, std::string> expected = {
      {"0:b", blob}, {"0:s", "5"}, {"0:t", "0"}, {"0:i", "0"}};
  EXPECT_EQ(redis_.hashes()["k"], expected);
  EXPECT_TRUE(Insert("k", "other").ok()) << "overwrites";
  EXPECT_EQ(redis_.connections, 1) << "connections are kept";
}

TEST_F(RedisCacheTest, LargeEntriesComeWhole) {
  ASSERT_TRUE(Open().ok());
  std::string blob(3'000'000, '\0');
  for (size_t i = 0; i < blob.size(); ++i) blob[i] = static_cast<char>(i * 7 + i / 1000);
  ASSERT_TRUE(Insert("k", blob).ok());
  ASSERT_TRUE(Lookup("k").ok());
  EXPECT_EQ(found_, blob);
}

TEST_F(RedisCacheTest, ThePasswordIsChecked) {
  redis_.wants_password = true;
  EXPECT_THAT(Open().message(), HasSubstr("NOAUTH Authentication required"));
  EXPECT_THAT(Open(R"(,"password":"wrong")").message(), HasSubstr("WRONGPASS"));
  EXPECT_TRUE(Open(R"(,"user":"u","password":"secret")").ok());
  EXPECT_TRUE(Insert("k", "v").ok());
}

TEST_F(RedisCacheTest, AStartWithoutRedisNamesIt) {
  redis_.Stop();
  const std::string message = Open().message();
  EXPECT_THAT(message, HasSubstr("Failed to connect to Redis: Connection refused, at 127.0.0.1:"));
  EXPECT_THAT(message, HasSubstr("refused"));
}

TEST_F(RedisCacheTest, WhatContradictsItselfIsAFailure) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Insert("k", "value").ok());
  redis_.mood = Mood::kWrongFields;
  EXPECT_THAT(Lookup("k").message(), HasSubstr("contradicts its description"));
  redis_.mood = Mood::kWell;
  EXPECT_TRUE(Lookup("k").ok()) << "the connection is fine";
}

/// Whatever happens to Redis, the cache finds back by itself.
class LostRedisTest : public RedisCacheTest, public ::testing::WithParamInterface<Mood> {};
INSTANTIATE_TEST_SUITE_P(Moods, LostRedisTest,
                         ::testing::Values(Mood::kWell, Mood::kGarbage, Mood::kCloses,
                                           Mood::kHangs));

TEST_P(LostRedisTest, FailsFastAndComesBack) {
  ASSERT_TRUE(Open(R"(,"socket_timeout":"200","connect_timeout":"200")").ok());
  ASSERT_TRUE(Insert("k", "value").ok());
  if (GetParam() == Mood::kWell) {
    redis_.Stop();
  } else {
    redis_.mood = GetParam();
  }
  EXPECT_FALSE(Lookup("k").ok());
  // From now on nothing waits for Redis: a thousand look-ups that each waited would take minutes.
  const int before = redis_.connections;
  for (int i = 0; i < 1000; ++i) {
    const Status status = Lookup("k");
    ASSERT_EQ(status.code(), StatusCode::kUnavailable);
    ASSERT_THAT(status.message(), HasSubstr("cannot be reached at present"));
  }
  EXPECT_LE(redis_.connections - before, 10) << "only the searching thread connects";
  if (GetParam() == Mood::kWell) {
    redis_.Start();
  } else {
    redis_.mood = Mood::kWell;
  }
  while (!Lookup("k").ok()) std::this_thread::yield();
  EXPECT_EQ(found_, "value");
}

TEST_F(RedisCacheTest, ARestartThatNobodySawCostsNothing) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Insert("k", "value").ok());
  redis_.Stop();
  redis_.Start();
  EXPECT_TRUE(Lookup("k").ok());
}

TEST_F(RedisCacheTest, CommandsShareThePool) {
  ASSERT_TRUE(Open(R"(,"pool_size":"3","wait_timeout":"0")").ok());
  ASSERT_TRUE(Insert("k", "value").ok());
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        good += cache_->Lookup("k", [](auto) { return Status::Ok(); }).ok();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 400);
  EXPECT_LE(redis_.connections, 3);
}

TEST_F(RedisCacheTest, EndsWhileLookingForRedis) {
  ASSERT_TRUE(Open().ok());
  redis_.Stop();
  EXPECT_FALSE(Lookup("k").ok());
  cache_.reset();
}

}  // namespace
}  // namespace nereid::caches
