// SPDX-License-Identifier: Apache-2.0
#include "base/near_name.h"

#include <gtest/gtest.h>

namespace nereid::base {
namespace {

TEST(EditDistanceTest, CountsEditsAndSwaps) {
  const auto distance = [](std::string_view a, std::string_view b) {
    return EditDistance(a, b, LetterCase::kMatters);
  };
  EXPECT_EQ(distance("", ""), 0u);
  EXPECT_EQ(distance("", "abc"), 3u);
  EXPECT_EQ(distance("abc", ""), 3u);
  EXPECT_EQ(distance("port", "prot"), 1u);
  EXPECT_EQ(distance("port", "ports"), 1u);
  EXPECT_EQ(distance("port", "pork"), 1u);
  EXPECT_EQ(distance("PORT", "port"), 4u);
  EXPECT_EQ(EditDistance("PORT", "port", LetterCase::kIgnored), 0u);
}

TEST(NearNameTest, CountsEdits) {
  const std::vector<std::string_view> names = {"alpha", "beta"};
  EXPECT_EQ(DidYouMean("ALPHA", names), " Did you mean 'alpha'?");
  EXPECT_EQ(DidYouMean("betta", names), " Did you mean 'beta'?");
  EXPECT_EQ(DidYouMean("gamma_delta", names), "");
  EXPECT_EQ(DidYouMean("", names), "");
  const std::vector<std::string_view> parts = {"name", "max_batch_size", "KIND_CPU"};
  EXPECT_EQ(DidYouMean("max_batch", parts), " Did you mean 'max_batch_size'?");
  EXPECT_EQ(DidYouMean("cpu", parts), " Did you mean 'KIND_CPU'?");
  const std::vector<std::string_view> short_names = {"gpus", "count", "tensorrt"};
  EXPECT_EQ(DidYouMean("cpus", short_names), "") << "another word";
  EXPECT_EQ(DidYouMean("gpsu", short_names), " Did you mean 'gpus'?");
  EXPECT_EQ(DidYouMean("cout", short_names), " Did you mean 'count'?");
  EXPECT_EQ(DidYouMean("tensorrtllm", short_names), "") << "too far";
  EXPECT_EQ(DidYouMean(std::string(1000, 'a'), names), "");
}

}  // namespace
}  // namespace nereid::base
