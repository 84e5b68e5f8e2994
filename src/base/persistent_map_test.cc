// SPDX-License-Identifier: Apache-2.0
#include "base/persistent_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::base {
namespace {

using Map = PersistentMap<std::string, int>;
using Reference = std::map<std::string, int>;

Reference Copy(const Map& map) { return Reference(map.begin(), map.end()); }

TEST(PersistentMap, AnEmptyMapHasNothing) {
  const Map map;
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.size(), 0u);
  EXPECT_EQ(map.begin(), map.end());
  EXPECT_EQ(map.Find("a"), nullptr);
  EXPECT_EQ(map.LowerBound("a"), map.end());
  EXPECT_TRUE(map.Without("a").empty());
}

TEST(PersistentMap, AChangeLeavesTheOldMapAsItWas) {
  const Map one = Map().With("a", 1);
  const Map two = one.With("a", 2).With("b", 3);
  const Map none = two.Without("a").Without("b").Without("c");
  EXPECT_EQ(Copy(one), (Reference{{"a", 1}}));
  EXPECT_EQ(Copy(two), (Reference{{"a", 2}, {"b", 3}}));
  EXPECT_TRUE(none.empty());
}

TEST(PersistentMap, KeysOfAnotherTypeAreFound) {
  const Map map = Map().With("a", 1).With("c", 3);
  ASSERT_NE(map.Find(std::string_view("c")), nullptr);
  EXPECT_EQ(*map.Find(std::string_view("c")), 3);
  EXPECT_EQ(map.LowerBound(std::string_view("b"))->first, "c");
  EXPECT_EQ(map.LowerBound(std::string_view("d")), map.end());
}

// Random changes give what std::map gives, through many splits of blocks and back to nothing.
TEST(PersistentMap, EqualsAnOrdinaryMap) {
  std::mt19937 random(7);
  Map map;
  Reference reference;
  std::vector<std::pair<Map, Reference>> earlier;
  for (int step = 0; step < 6000; ++step) {
    const std::string key = std::to_string(random() % 1500);
    // Grows at first, then shrinks.
    if (random() % 6000 > static_cast<unsigned>(step)) {
      map = map.With(key, step);
      reference[key] = step;
    } else {
      map = map.Without(key);
      reference.erase(key);
    }
    if (step % 500 == 0) earlier.emplace_back(map, reference);
    const int* const found = map.Find(key);
    ASSERT_EQ(found != nullptr, reference.contains(key));
  }
  earlier.emplace_back(map, reference);
  for (const auto& [old_map, old_reference] : earlier) {
    EXPECT_EQ(old_map.size(), old_reference.size());
    EXPECT_EQ(Copy(old_map), old_reference);
  }
  for (const auto& [key, value] : reference) map = map.Without(key);
  EXPECT_TRUE(map.empty());
}

}  // namespace
}  // namespace nereid::base
