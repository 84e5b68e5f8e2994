// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/profile.h"

#include <gtest/gtest.h>

namespace nereid::tensorrt {
namespace {

std::string Parse(std::vector<std::string> names, int count, std::vector<int>* indices) {
  return ParseProfiles(names, count, indices).message();
}

TEST(Profiles, NamesAreNumbers) {
  std::vector<int> indices;
  EXPECT_EQ(Parse({}, 3, &indices), "");
  EXPECT_EQ(indices, std::vector<int>{0});
  EXPECT_EQ(Parse({"2", "0", "2"}, 3, &indices), "");
  EXPECT_EQ(indices, (std::vector<int>{2, 0}));
  for (const char* name : {"3", "-1", "one", "1x", "", "99999999999"}) {
    EXPECT_EQ(Parse({name}, 3, &indices), "instance_group.profile is '" + std::string(name) +
                                              "', but the engine's profiles are 0 to 2");
  }
}

TEST(Profiles, TheNearestOfThoseThatFit) {
  const std::vector<std::string> names = {"x"};
  const std::vector<Profile> profiles = {{0, {{{1, 8}, {1, 8}, {4, 8}}}},
                                         {3, {{{1, 8}, {32, 8}, {64, 8}}}}};
  const auto choose = [&](std::vector<int64_t> shape) {
    size_t place = 99;
    const std::vector<std::vector<int64_t>> inputs = {std::move(shape)};
    const Error error = ChooseProfile(profiles, names, inputs, &place);
    return error.ok() ? std::to_string(place) : error.message();
  };
  EXPECT_EQ(choose({1, 8}), "0");
  EXPECT_EQ(choose({4, 8}), "0");
  EXPECT_EQ(choose({5, 8}), "1");
  EXPECT_EQ(choose({64, 8}), "1");
  EXPECT_EQ(choose({65, 8}),
            "input 'x' is [65,8], but the engine takes [1,8] to [4,8] (profile 0), [1,8] to [64,8] "
            "(profile 3)");
  EXPECT_NE(choose({1, 9}), "0");
  EXPECT_NE(choose({1}), "0");
  EXPECT_NE(choose({INT64_MAX, INT64_MAX}), "1");
}

TEST(Profiles, EachInputFitsSomewhereButNoProfileFitsAll) {
  const std::vector<std::string> names = {"x", "y"};
  const std::vector<Profile> profiles = {{0, {{{1}, {1}, {1}}, {{2}, {2}, {2}}}},
                                         {1, {{{2}, {2}, {2}}, {{1}, {1}, {1}}}}};
  const std::vector<std::vector<int64_t>> inputs = {{1}, {1}};
  size_t place = 0;
  EXPECT_EQ(ChooseProfile(profiles, names, inputs, &place).message(),
            "no profile of the engine takes these inputs together");
}

}  // namespace
}  // namespace nereid::tensorrt
