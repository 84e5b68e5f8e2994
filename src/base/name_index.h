// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::base {

/// Finds names in a list that grows at its end and whose length a client chooses. The first few
/// names are compared one after another, which costs no memory; beyond that the list is indexed, so
/// that n searches cost n·log(n) and not n². (A hash table has bad cases that a client can make.)
class NameIndex {
 public:
  static constexpr size_t kFew = 16;

  /// The position of the first element of `list` with that name; `name_of(element)` gives a
  /// string_view. The list may have grown since the last call, and must not have changed otherwise
  /// unless Clear() was called.
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

  /// Forgets the list.
  void Clear() {
    if (indexed_ == 0) return;
    positions_.clear();
    indexed_ = 0;
  }

 private:
  std::map<std::string, size_t, std::less<>> positions_;
  size_t indexed_ = 0;  // elements of the list that positions_ knows
};

}  // namespace nereid::base
