// SPDX-License-Identifier: Apache-2.0
#include "schedule/start_gate.h"

#include <gtest/gtest.h>

namespace nereid::schedule {
namespace {

constexpr uint64_t kLater = StartGate::kOpensAfterNs;

TEST(StartGateTest, WithoutConditionsItIsOpen) {
  EXPECT_TRUE(StartGate().IsOpen(0));
  EXPECT_TRUE(StartGate({0, 5}).IsOpen(0)) << "the backlog alone is no condition";
}

TEST(StartGateTest, BothConditionsMustBeMetAtOnce) {
  StartGate gate({2, 1});
  EXPECT_EQ(gate.OpensAt(10, 2, 0), kNever);
  EXPECT_EQ(gate.OpensAt(20, 1, 1), kNever);
  EXPECT_EQ(gate.OpensAt(30, 2, 1), 30 + kLater);
  EXPECT_FALSE(gate.IsOpen(30));
  EXPECT_EQ(gate.OpensAt(40, 0, 0), 30 + kLater) << "once met, it opens";
  EXPECT_TRUE(gate.IsOpen(30 + kLater));
}

TEST(StartGateTest, ConditionsAreReadFromTheEnvironment) {
  EXPECT_EQ(ReadStartConditions("12", "3").queued, 12u);
  EXPECT_EQ(ReadStartConditions("12", "3").backlog, 3u);
  EXPECT_EQ(ReadStartConditions(nullptr, nullptr).queued, 0u);
  for (const char* text : {"", "-1", "x", "2x", "99999999999"}) {
    EXPECT_EQ(ReadStartConditions(text, text).queued, 0u) << text;
  }
}

}  // namespace
}  // namespace nereid::schedule
