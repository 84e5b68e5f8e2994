// SPDX-License-Identifier: Apache-2.0
#include "repository/requests/load_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace nereid::repository {
namespace {

using base::Status;
using ::testing::ElementsAre;

LoadRequests::Overrides WithConfig(const std::string& config) {
  return config.empty() ? nullptr
                        : std::make_shared<const LoadOverrides>(LoadOverrides{config, {}});
}

/// Requests whose loads wait for the test, except those of models other than "m".
class LoadRequestsTest : public ::testing::Test {
 protected:
  /// Begins a request and returns when it waits or is carried out.
  std::future<Status> Request(const std::string& config, std::function<bool()> is_abandoned = {}) {
    const size_t waiting = requests_.CountWaiting("m");
    const size_t begun = begun_;
    auto result = std::async(std::launch::async, [this, config, is_abandoned] {
      return requests_.Load("m", WithConfig(config), is_abandoned,
                            [this](const auto& overrides, const auto& abandoned) {
                              return Execute(overrides, abandoned);
                            });
    });
    while (requests_.CountWaiting("m") == waiting && begun_ == begun) std::this_thread::yield();
    return result;
  }
  Status Execute(const LoadRequests::Overrides& overrides,
                 const std::function<bool()>& is_abandoned) {
    const std::string config = overrides == nullptr ? "" : *overrides->config;
    {
      base::MutexLock lock(mutex_);
      executed_.push_back(config);
    }
    ++begun_;
    while (released_ < begun_) {
      if (is_abandoned()) return Status::Cancelled("abandoned");
      std::this_thread::yield();
    }
    return config == "bad" ? Status::InvalidArgument("bad") : Status::Ok();
  }
  void Release() { ++released_; }
  std::vector<std::string> Executed() {
    base::MutexLock lock(mutex_);
    return executed_;
  }

  LoadRequests requests_;
  std::atomic<size_t> begun_{0};
  std::atomic<size_t> released_{0};
  base::Mutex mutex_;
  std::vector<std::string> executed_ NEREID_GUARDED_BY(mutex_);
};

TEST_F(LoadRequestsTest, RequestsThatWaitBecomeOneLoad) {
  std::vector<std::future<Status>> requests;
  for (int i = 0; i < 10; ++i) requests.push_back(Request(""));
  EXPECT_EQ(requests_.CountWaiting("m"), 9u);
  Release();
  Release();
  for (auto& request : requests) EXPECT_TRUE(request.get().ok());
  EXPECT_THAT(Executed(), ElementsAre("", ""));
}

TEST_F(LoadRequestsTest, TheLatestOverridesCount) {
  auto first = Request("a");
  auto second = Request("b");
  auto third = Request("bad");
  auto fourth = Request("");
  Release();
  EXPECT_TRUE(first.get().ok());
  Release();
  for (auto* request : {&second, &third, &fourth}) EXPECT_EQ(request->get().message(), "bad");
  EXPECT_THAT(Executed(), ElementsAre("a", "bad"));
}

TEST_F(LoadRequestsTest, AFailureIsNotThatOfTheFollowingRequests) {
  auto first = Request("bad");
  auto second = Request("good");
  Release();
  EXPECT_EQ(first.get().message(), "bad");
  Release();
  EXPECT_TRUE(second.get().ok());
}

TEST_F(LoadRequestsTest, AClientThatGoesAwayLeavesTheOthersWaiting) {
  std::atomic<bool> gone{false};
  auto first = Request("");
  auto second = Request("", [&] { return gone.load(); });
  auto third = Request("");
  gone = true;
  EXPECT_EQ(second.get().code(), base::StatusCode::kCancelled);
  EXPECT_EQ(requests_.CountWaiting("m"), 1u);
  Release();
  Release();
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(third.get().ok());
}

TEST_F(LoadRequestsTest, ARequestThatNobodyWaitsForIsNotCarriedOut) {
  std::atomic<bool> gone{false};
  auto first = Request("");
  auto second = Request("", [&] { return gone.load(); });
  gone = true;
  EXPECT_EQ(second.get().code(), base::StatusCode::kCancelled);
  Release();
  EXPECT_TRUE(first.get().ok());
  EXPECT_THAT(Executed(), ElementsAre(""));
}

TEST_F(LoadRequestsTest, ALoadIsAbandonedWithItsLastClient) {
  std::atomic<bool> gone{false};
  auto first = Request("", [&] { return gone.load(); });
  gone = true;
  EXPECT_EQ(first.get().message(), "abandoned");
}

TEST_F(LoadRequestsTest, RequestsThatWaitCanBeCancelled) {
  EXPECT_EQ(requests_.CancelWaiting("m"), 0u);
  auto first = Request("");
  auto second = Request("");
  auto third = Request("");
  EXPECT_EQ(requests_.CancelWaiting("m"), 2u);
  EXPECT_EQ(second.get().message(), "the load of model 'm' was cancelled");
  EXPECT_EQ(third.get().code(), base::StatusCode::kCancelled);
  Release();
  EXPECT_TRUE(first.get().ok());
}

}  // namespace
}  // namespace nereid::repository
