// SPDX-License-Identifier: Apache-2.0
#include "memory/gpu/range_allocator.h"

#include <algorithm>
#include <iterator>

namespace nereid::memory {

RangeAllocator::RangeAllocator(uint64_t size) : size_(size / kAlignment * kAlignment) {
  if (size_ > 0) AddFree(0, size_);
}

std::optional<uint64_t> RangeAllocator::Take(uint64_t size) {
  if (size > size_) return std::nullopt;
  const uint64_t needed = (std::max<uint64_t>(size, 1) + kAlignment - 1) / kAlignment * kAlignment;
  const auto best = by_size_.lower_bound({needed, 0});
  if (best == by_size_.end()) return std::nullopt;
  const auto [found_size, begin] = *best;
  RemoveFree(free_.find(begin));
  taken_.emplace(begin, needed);
  used_ += needed;
  if (found_size > needed) AddFree(begin + needed, found_size - needed);
  return begin;
}

bool RangeAllocator::Give(uint64_t begin) {
  const auto taken = taken_.find(begin);
  if (taken == taken_.end()) return false;
  uint64_t size = taken->second;
  used_ -= size;
  taken_.erase(taken);
  const auto next = free_.lower_bound(begin);
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == begin) {
      begin = previous->first;
      size += previous->second;
      RemoveFree(previous);
    }
  }
  if (next != free_.end() && begin + size == next->first) {
    size += next->second;
    RemoveFree(next);
  }
  AddFree(begin, size);
  return true;
}

void RangeAllocator::AddFree(uint64_t begin, uint64_t size) {
  free_.emplace(begin, size);
  by_size_.emplace(size, begin);
}

void RangeAllocator::RemoveFree(std::map<uint64_t, uint64_t>::iterator range) {
  by_size_.erase({range->second, range->first});
  free_.erase(range);
}

}  // namespace nereid::memory
