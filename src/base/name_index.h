// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::base {

/// An index of the names in a list that only grows and whose length a client chooses. The first
/// kFew names are compared one by one, which needs no memory. Beyond that the names are kept in a
/// map, so that n searches take O(n log n) and not O(n²). (A hash table has bad cases that a client
/// could cause.) Not thread-safe.
class NameIndex {
 public:
  static constexpr size_t kFew = 16;

  /// Returns the position of the first element of `list` that has this name, or nothing.
  /// `name_of(element)` returns a string_view. Elements may have been appended since the last call;
  /// any other change to the list requires a call of Clear() first.
  template <typename List, typename NameOf>
  std::optional<size_t> Find(const List& list, std::string_view name, NameOf&& name_of) {
    if (list.size() <= kFew) {
      for (size_t i = 0; i < list.size(); ++i) {
        if (name_of(list[i]) == name) return i;
      }
      return std::nullopt;
    }
    for (; indexed_ < list.size(); ++indexed_) {
      positions_.emplace(name_of(list[indexed_]), indexed_);
    }
    const auto found = positions_.find(name);
    if (found == positions_.end()) return std::nullopt;
    return found->second;
  }

  /// Removes all names from the index.
  void Clear() {
    if (indexed_ == 0) return;
    positions_.clear();
    indexed_ = 0;
  }

 private:
  std::map<std::string, size_t, std::less<>> positions_;
  size_t indexed_ = 0;  // how many elements of the list are in positions_
};

}  // namespace nereid::base
