// SPDX-License-Identifier: Apache-2.0
#include "base/name_index.h"

#include <gtest/gtest.h>

#include <vector>

namespace nereid::base {
namespace {

TEST(NameIndex, FindsInShortAndLongLists) {
  NameIndex index;
  std::vector<std::string> names;
  const auto find = [&](std::string_view name) {
    return index.Find(names, name, [](const std::string& text) { return std::string_view(text); });
  };
  EXPECT_FALSE(find("0"));
  for (size_t i = 0; i < 3 * NameIndex::kFew; ++i) {
    const std::string name = std::to_string(i);
    EXPECT_FALSE(find(name)) << i;
    names.push_back(name);
    EXPECT_EQ(find(name), i);
    EXPECT_EQ(find("0"), 0u);
  }
  names = {"b", "a"};
  names.resize(2 * NameIndex::kFew);
  index.Clear();
  EXPECT_EQ(find("a"), 1u);
  EXPECT_EQ(find(""), 2u);  // the first of several
  EXPECT_FALSE(find("1"));
}

}  // namespace
}  // namespace nereid::base
