// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/credential_cache.h"

#include <gtest/gtest.h>

namespace nereid::repository::storage {
namespace {

using Cache = CredentialCache<std::string>;
using base::Status;

constexpr uint64_t kMinuteNs = 60'000'000'000;

class CredentialCacheTest : public ::testing::Test {
 protected:
  base::FakeClock clock_;
  int calls_ = 0;
  base::Result<Credential<std::string>> next_ = Credential<std::string>{"one", "here"};
  Cache cache_{[this] {
                 ++calls_;
                 return next_;
               },
               clock_};
};

TEST_F(CredentialCacheTest, KeepsWhatDoesNotExpire) {
  EXPECT_EQ(cache_.Get()->credential.value, "one");
  clock_.Advance(1'000'000 * kMinuteNs);
  EXPECT_EQ(cache_.Get()->credential.value, "one");
  EXPECT_EQ(calls_, 1);
}

TEST_F(CredentialCacheTest, FindsAgainBeforeTheExpiry) {
  next_ = Credential<std::string>{"one", "here", clock_.WallMs() + 10 * 60'000};
  const uint64_t first = cache_.Get()->number;
  clock_.Advance(7 * kMinuteNs);
  EXPECT_EQ(cache_.Get()->number, first);
  EXPECT_EQ(calls_, 1);
  clock_.Advance(kMinuteNs + 1);
  next_ = Status::Unavailable("the server is down");
  EXPECT_EQ(cache_.Get()->credential.value, "one") << "valid for two minutes more";
  EXPECT_EQ(calls_, 2);
  clock_.Advance(2 * kMinuteNs);
  EXPECT_EQ(cache_.Get().status().message(), "the server is down");
  next_ = Credential<std::string>{"two", "here"};
  EXPECT_EQ(cache_.Get()->credential.value, "two");
  EXPECT_NE(cache_.Get()->number, first);
}

TEST_F(CredentialCacheTest, RenewsOnceForAllThatWereRefused) {
  const uint64_t first = cache_.Get()->number;
  EXPECT_FALSE(cache_.Renew(first)) << "the same credentials would be refused again";
  EXPECT_EQ(calls_, 2);
  next_ = Credential<std::string>{"two", "here"};
  EXPECT_TRUE(cache_.Renew(first));
  EXPECT_EQ(calls_, 3);
  EXPECT_TRUE(cache_.Renew(first)) << "another call has renewed them";
  EXPECT_EQ(calls_, 3);
  next_ = Status::InvalidArgument("no file");
  EXPECT_FALSE(cache_.Renew(cache_.Get()->number));
}

TEST_F(CredentialCacheTest, AFailureIsNotKept) {
  next_ = Status::Unavailable("later");
  EXPECT_FALSE(cache_.Get().ok());
  next_ = Credential<std::string>{"one", "here"};
  EXPECT_TRUE(cache_.Get().ok());
}

}  // namespace
}  // namespace nereid::repository::storage
