// SPDX-License-Identifier: Apache-2.0
#include "greedy_decoder.h"

#include <gtest/gtest.h>

#include <limits>

namespace nereid::ocr {
namespace {

TEST(GreedyDecoder, MergesRepeatsAndDropsBlanks) {
  const std::vector<std::string> characters = {"blank", "a", "b", "é"};
  std::vector<float> steps;
  for (const size_t best : {0, 1, 1, 0, 1, 3, 3, 2, 0}) {
    std::vector<float> step(4, 0.1F);
    step[best] = 0.7F;
    steps.insert(steps.end(), step.begin(), step.end());
  }
  const ReadText read = DecodeGreedily(steps.data(), 9, characters);
  EXPECT_EQ(read.text, "aaéb");
  EXPECT_FLOAT_EQ(read.score, 0.7F);
  EXPECT_EQ(DecodeGreedily(steps.data(), 1, characters).text, "");
  EXPECT_EQ(DecodeGreedily(steps.data(), 1, characters).score, 0);
}

TEST(GreedyDecoder, TakesWhatIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::string> characters = {"blank", "a", "b"};
  const std::vector<float> all(9, nan);
  EXPECT_EQ(DecodeGreedily(all.data(), 3, characters).text, "");
  EXPECT_EQ(DecodeGreedily(all.data(), 3, characters).score, 0);
  const std::vector<float> some = {0.1F, nan, 0.6F, 0.1F, 0.7F, nan};
  EXPECT_EQ(DecodeGreedily(some.data(), 2, characters).text, "ba");
}

TEST(GreedyDecoder, FindsTheLargestWhereverItStands) {
  // More characters than the search has lanes, and a remainder.
  std::vector<std::string> characters(6625, "-");
  for (const size_t place : {1U, 15U, 16U, 17U, 6607U, 6608U, 6624U}) {
    characters[place] = "x";
    std::vector<float> step(characters.size(), 1e-4F);
    step[place] = 0.5F;
    EXPECT_EQ(DecodeGreedily(step.data(), 1, characters).text, "x") << place;
    characters[place] = "-";
  }
  EXPECT_EQ(DecodeGreedily(nullptr, 0, characters).text, "");
}

}  // namespace
}  // namespace nereid::ocr
