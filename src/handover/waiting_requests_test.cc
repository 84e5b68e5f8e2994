// SPDX-License-Identifier: Apache-2.0
#include "handover/waiting_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::handover {
namespace {

using Entry = WaitingRequests::Entry;
using ::testing::ElementsAre;

const SequenceKey kKey{"m", 1, uint64_t{5}};

class WaitingRequestsTest : public ::testing::Test {
 protected:
  WaitingRequests::RequestPtr Make(const std::string& name) {
    auto request = std::make_unique<request::InferenceRequest>();
    request->id = name;
    return request;
  }
  Entry Join(const std::string& name) {
    auto request = Make(name);
    return waiting_.Join(kKey, request, 1);
  }
  Entry Enter(const std::string& name) {
    auto request = Make(name);
    return waiting_.Enter(kKey, request, 1);
  }

  WaitingRequests waiting_;
};

TEST_F(WaitingRequestsTest, RequestsOfASequenceKeepTheirOrder) {
  EXPECT_EQ(Join("a"), Entry::kAlone);
  EXPECT_EQ(Enter("a"), Entry::kFirst);
  EXPECT_EQ(Enter("b"), Entry::kJoined);
  EXPECT_EQ(Join("c"), Entry::kJoined);
  std::vector<std::string> order;
  const auto resume = [&](WaitingRequests::Waiting waiting) {
    order.push_back(waiting.request->id);
    EXPECT_EQ(waiting.origin, 1);
    EXPECT_TRUE(waiting_.Has(kKey));
    // One that arrives now must not overtake those that are resumed.
    if (order.size() == 1) {
      EXPECT_EQ(Join("d"), Entry::kJoined);
    }
  };
  EXPECT_FALSE(waiting_.Resume(kKey, resume));
  // The sequence may have left after "c", so "d" waits until it has been fetched again.
  EXPECT_THAT(order, ElementsAre("a", "b", "c"));
  EXPECT_FALSE(waiting_.IsEmpty());
  EXPECT_TRUE(waiting_.Resume(kKey, resume));
  EXPECT_THAT(order, ElementsAre("a", "b", "c", "d"));
  EXPECT_TRUE(waiting_.IsEmpty());
  EXPECT_FALSE(waiting_.Has(kKey));
  EXPECT_EQ(Join("e"), Entry::kAlone);
}

TEST_F(WaitingRequestsTest, ASequenceMayBeWantedWithoutARequest) {
  WaitingRequests::RequestPtr none;
  EXPECT_EQ(waiting_.Enter(kKey, none, 0), Entry::kFirst);
  EXPECT_EQ(waiting_.Enter(kKey, none, 0), Entry::kJoined);
  EXPECT_THAT(waiting_.Sequences(), ElementsAre(kKey));
  EXPECT_EQ(Join("a"), Entry::kJoined);
  int resumed = 0;
  EXPECT_TRUE(waiting_.Resume(kKey, [&](WaitingRequests::Waiting) { ++resumed; }));
  EXPECT_EQ(resumed, 1);
}

TEST_F(WaitingRequestsTest, TheNumbersAreBounded) {
  EXPECT_EQ(Enter("first"), Entry::kFirst);
  for (size_t i = 1; i < WaitingRequests::kMaxRequests; ++i) ASSERT_EQ(Join("x"), Entry::kJoined);
  auto refused = Make("last");
  EXPECT_EQ(waiting_.Join(kKey, refused, 1), Entry::kFull);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->id, "last");
  EXPECT_TRUE(waiting_.Resume(kKey, [](WaitingRequests::Waiting) {}));
  WaitingRequests::RequestPtr none;
  for (uint64_t i = 1; i <= WaitingRequests::kMaxSequences; ++i) {
    ASSERT_EQ(waiting_.Enter({"m", 1, i}, none, 0), Entry::kFirst);
  }
  EXPECT_EQ(waiting_.Enter({"other", 1, uint64_t{1}}, none, 0), Entry::kFull);
}

}  // namespace
}  // namespace nereid::handover
