// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/sequence_phase.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace nereid::schedule {
namespace {

constexpr SequencePhase kPhases[] = {SequencePhase::kBacklog, SequencePhase::kPending,
                                     SequencePhase::kReady, SequencePhase::kRunning,
                                     SequencePhase::kIdle};

TEST(SequencePhaseTest, OnlyTheTransitionsOfTheTableAreLegal) {
  const std::set<std::pair<SequencePhase, SequencePhase>> table = {
      {SequencePhase::kBacklog, SequencePhase::kPending},
      {SequencePhase::kPending, SequencePhase::kReady},
      {SequencePhase::kPending, SequencePhase::kIdle},
      {SequencePhase::kReady, SequencePhase::kPending},
      {SequencePhase::kReady, SequencePhase::kRunning},
      {SequencePhase::kRunning, SequencePhase::kPending},
      {SequencePhase::kIdle, SequencePhase::kPending},
  };
  for (const SequencePhase from : kPhases) {
    for (const SequencePhase to : kPhases) {
      EXPECT_EQ(IsLegalTransition(from, to), table.contains({from, to}))
          << static_cast<int>(from) << " to " << static_cast<int>(to);
    }
  }
}

TEST(SequencePhaseTest, ASequenceIsNotRemovedWhileOthersReferToIt) {
  EXPECT_TRUE(MayBeRemoved(SequencePhase::kBacklog));
  EXPECT_TRUE(MayBeRemoved(SequencePhase::kPending));
  EXPECT_TRUE(MayBeRemoved(SequencePhase::kIdle));
  EXPECT_FALSE(MayBeRemoved(SequencePhase::kReady));
  EXPECT_FALSE(MayBeRemoved(SequencePhase::kRunning));
}

}  // namespace
}  // namespace nereid::schedule
