// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/connection.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

namespace nereid::frontend::net {
namespace {

struct FakeConnection final : Connection {
  void Start() override {}
  void BeginDrain() override {}
  void Close() override {}
};

class ConnectionListTest : public ::testing::Test {
 protected:
  ConnectionListTest() {
    for (int i = 0; i < 5; ++i) {
      all_.push_back(std::make_shared<FakeConnection>());
      list_.Add(all_.back());
    }
  }
  std::vector<std::shared_ptr<FakeConnection>> all_;
  ConnectionList list_;
};

TEST_F(ConnectionListTest, ForgetsAConnectionOnce) {
  const std::weak_ptr<Connection> watch = all_[1];
  EXPECT_TRUE(list_.Remove(*all_[1]));
  EXPECT_FALSE(list_.Remove(*all_[1]));
  EXPECT_EQ(list_.size(), 4u);
  all_[1].reset();
  EXPECT_TRUE(watch.expired());
  for (const int i : {4, 0, 3, 2}) EXPECT_TRUE(list_.Remove(*all_[i]));
  EXPECT_TRUE(list_.empty());
}

TEST_F(ConnectionListTest, PutsAConnectionInThePlaceOfAnother) {
  ConnectionLimit limit(10);
  const auto counted = std::make_shared<FakeConnection>();
  list_.Add(counted, limit.Take());
  const auto next = std::make_shared<FakeConnection>();
  EXPECT_EQ(list_.Replace(*counted, next), counted);
  EXPECT_EQ(list_.size(), 6u);
  EXPECT_FALSE(list_.Remove(*counted));
  std::vector<ConnectionLimit::Place> others;
  for (int i = 0; i < 9; ++i) others.push_back(limit.Take());
  EXPECT_FALSE(limit.Take());  // `next` is counted
  EXPECT_TRUE(list_.Remove(*next));
  EXPECT_TRUE(limit.Take());
}

TEST_F(ConnectionListTest, VisitsEachOneThoughOthersAreRemovedMeanwhile) {
  std::set<Connection*> seen;
  list_.ForEach([&](Connection& connection) {
    seen.insert(&connection);
    if (&connection == all_[4].get()) list_.Remove(connection);
    if (&connection == all_[3].get()) {
      list_.Remove(*all_[0]);
      list_.Remove(*all_[3]);
    }
  });
  EXPECT_TRUE(seen.contains(all_[1].get()));
  EXPECT_TRUE(seen.contains(all_[2].get()));
  EXPECT_FALSE(seen.contains(all_[0].get()));
  EXPECT_EQ(list_.size(), 2u);
}

TEST_F(ConnectionListTest, AllMayBeRemovedAtOnce) {
  int steps = 0;
  list_.ForEach([&](Connection&) {
    ++steps;
    for (const auto& connection : all_) list_.Remove(*connection);
  });
  EXPECT_EQ(steps, 1);
}

}  // namespace
}  // namespace nereid::frontend::net
