// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::telemetry {

/// A set of label texts. Adding one costs no allocation of its own, unlike in a set of strings: a
/// page of many models has tens of thousands. Not thread-safe.
class LabelSet {
 public:
  /// Returns whether the text was not in the set.
  bool Add(std::string_view text);

 private:
  struct Slot {
    uint64_t hash = 0;
    size_t offset = SIZE_MAX;  // of the text in texts_; SIZE_MAX: the slot is free
    size_t size = 0;
  };

  /// Returns the slot of the text, or the free slot where it belongs.
  Slot& Find(std::string_view text, uint64_t hash);
  void Grow();

  std::string texts_;
  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t count_ = 0;
};

}  // namespace nereid::telemetry
