// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace nereid::memory {

/// Divides the numbers [0, size) into ranges that users take and give back: the bookkeeping of a
/// pool whose memory the CPU may not touch. Takes the smallest free range that is large enough, and
/// joins neighbors that are free. Not thread-safe.
class RangeAllocator {
 public:
  /// Each range begins at a multiple of this, which is the alignment of cuMemAlloc.
  static constexpr uint64_t kAlignment = 256;

  /// The numbers above the last multiple of kAlignment are not used.
  explicit RangeAllocator(uint64_t size);

  /// Returns the begin of a range of `size` numbers; nothing if no free range is large enough. A
  /// range of 0 numbers takes the smallest possible room.
  std::optional<uint64_t> Take(uint64_t size);
  /// Gives a range back. Returns false if no range that is taken begins at `begin`.
  bool Give(uint64_t begin);

  uint64_t size() const { return size_; }
  /// Returns the sum of the ranges that are taken, as rounded up to kAlignment.
  uint64_t used() const { return used_; }

 private:
  void AddFree(uint64_t begin, uint64_t size);
  void RemoveFree(std::map<uint64_t, uint64_t>::iterator range);

  const uint64_t size_;
  uint64_t used_ = 0;
  std::map<uint64_t, uint64_t> free_;                // size by begin
  std::set<std::pair<uint64_t, uint64_t>> by_size_;  // the same ranges as (size, begin)
  std::unordered_map<uint64_t, uint64_t> taken_;     // size by begin
};

}  // namespace nereid::memory
