// SPDX-License-Identifier: Apache-2.0
#include "telemetry/label_set.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::telemetry {
namespace {

TEST(LabelSetTest, HasEachTextOnce) {
  LabelSet set;
  EXPECT_TRUE(set.Add(""));
  EXPECT_FALSE(set.Add(""));
  constexpr int kTexts = 5000;
  for (int i = 0; i < kTexts; ++i) EXPECT_TRUE(set.Add("model=\"" + std::to_string(i) + "\""));
  for (int i = 0; i < kTexts; ++i) EXPECT_FALSE(set.Add("model=\"" + std::to_string(i) + "\""));
  EXPECT_TRUE(set.Add("model=\""));
}

}  // namespace
}  // namespace nereid::telemetry
