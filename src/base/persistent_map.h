// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace nereid::base {

/// An ordered map that never changes: With() and Without() return a new map, which shares all but a
/// few entries with the old one. A change copies about 64 + size/32 pointers and no entry, so a map
/// of thousands of entries can be replaced for each change, and readers need no lock.
///
/// The entries are in sorted blocks of at most kMaxBlock; no block is empty. `Compare` is
/// transparent where keys of other types are searched. Copies are cheap; all const functions are
/// thread-safe.
template <typename Key, typename Value, typename Compare = std::less<>>
class PersistentMap {
 public:
  using Entry = std::pair<const Key, Value>;

 private:
  using Block = std::vector<std::shared_ptr<const Entry>>;
  using BlockPtr = std::shared_ptr<const Block>;
  using Blocks = std::vector<BlockPtr>;
  static constexpr size_t kMaxBlock = 64;

 public:
  /// Visits the entries in order. Valid while a map that has them lives.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;

    reference operator*() const { return *(*(*blocks_)[block_])[place_]; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      if (++place_ == (*blocks_)[block_]->size()) {
        ++block_;
        place_ = 0;
      }
      return *this;
    }
    bool operator==(const Iterator& other) const {
      return block_ == other.block_ && place_ == other.place_;
    }

   private:
    friend class PersistentMap;
    Iterator(const PersistentMap& map, size_t block, size_t place)
        : blocks_(&map.blocks_), block_(block), place_(place) {}
    const Blocks* blocks_;
    size_t block_;
    size_t place_;
  };

  PersistentMap() = default;
  /// Makes a map of the pairs of a range; of several with one key the last one counts.
  template <typename Range>
  explicit PersistentMap(const Range& entries) {
    for (const auto& [key, value] : entries) *this = With(key, value);
  }

  Iterator begin() const { return Iterator(*this, 0, 0); }
  Iterator end() const { return Iterator(*this, blocks_.size(), 0); }
  bool empty() const { return blocks_.empty(); }
  size_t size() const {
    size_t size = 0;
    for (const auto& block : blocks_) size += block->size();
    return size;
  }

  /// Returns the first entry whose key is not less than `key`, or end().
  template <typename Searched>
  Iterator LowerBound(const Searched& key) const {
    if (blocks_.empty()) return end();
    // What is not in one of the other blocks can only be in the last one.
    const auto block = std::partition_point(
        blocks_.begin(), blocks_.end() - 1,
        [&](const BlockPtr& candidate) { return less_(candidate->back()->first, key); });
    const size_t place = PlaceIn(**block, key);
    if (place == (*block)->size()) return end();
    return Iterator(*this, static_cast<size_t>(block - blocks_.begin()), place);
  }

  /// Returns the value of a key, or null.
  template <typename Searched>
  const Value* Find(const Searched& key) const {
    const Iterator found = LowerBound(key);
    return found == end() || less_(key, found->first) ? nullptr : &found->second;
  }

  /// Returns a map in which `key` has this value.
  PersistentMap With(const Key& key, Value value) const {
    auto entry = std::make_shared<const Entry>(key, std::move(value));
    PersistentMap map = *this;
    if (map.blocks_.empty()) {
      map.blocks_.push_back(std::make_shared<const Block>(Block{std::move(entry)}));
      return map;
    }
    Iterator found = LowerBound(key);
    // A key after all others goes into the last block.
    if (found == end()) found = Iterator(*this, blocks_.size() - 1, blocks_.back()->size());
    Block block = *blocks_[found.block_];
    const auto place = block.begin() + static_cast<std::ptrdiff_t>(found.place_);
    if (place != block.end() && !less_(key, (*place)->first)) {
      *place = std::move(entry);
    } else {
      block.insert(place, std::move(entry));
    }
    map.Store(found.block_, std::move(block));
    return map;
  }

  /// Returns a map without this key.
  PersistentMap Without(const Key& key) const {
    PersistentMap map = *this;
    const Iterator found = LowerBound(key);
    if (found == end() || less_(key, found->first)) return map;
    Block block = *blocks_[found.block_];
    block.erase(block.begin() + static_cast<std::ptrdiff_t>(found.place_));
    map.Store(found.block_, std::move(block));
    return map;
  }

 private:
  /// Returns the place of the first entry of a block whose key is not less than `key`.
  template <typename Searched>
  size_t PlaceIn(const Block& block, const Searched& key) const {
    const auto place = std::partition_point(
        block.begin(), block.end(), [&](const auto& entry) { return less_(entry->first, key); });
    return static_cast<size_t>(place - block.begin());
  }

  /// Replaces a block; splits it if it is too large, and removes it if it is empty.
  void Store(size_t index, Block block) {
    const auto place = blocks_.begin() + static_cast<std::ptrdiff_t>(index);
    if (block.empty()) {
      blocks_.erase(place);
    } else if (block.size() <= kMaxBlock) {
      *place = std::make_shared<const Block>(std::move(block));
    } else {
      const auto middle = block.begin() + kMaxBlock / 2;
      *place = std::make_shared<const Block>(block.begin(), middle);
      blocks_.insert(place + 1, std::make_shared<const Block>(middle, block.end()));
    }
  }

  Blocks blocks_;
  [[no_unique_address]] Compare less_;
};

}  // namespace nereid::base
