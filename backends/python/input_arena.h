// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/unique_fd.h"
#include "nereid/backend/error.h"

namespace nereid::python {

class InputArena;

/// A part of an InputArena that one request has; the arena gets it back from the destructor.
class InputBlock {
 public:
  InputBlock(std::shared_ptr<InputArena> arena, uint64_t offset, uint64_t capacity, uint64_t ready)
      : arena_(std::move(arena)), offset_(offset), capacity_(capacity), ready_(ready) {}
  InputBlock(const InputBlock&) = delete;
  InputBlock& operator=(const InputBlock&) = delete;
  ~InputBlock();

  char* data() const;
  uint64_t size() const { return capacity_; }
  /// Where the block begins in the arena.
  uint64_t offset() const { return offset_; }
  const std::shared_ptr<InputArena>& arena() const { return arena_; }

  /// Reserves memory for the bytes from `begin` on, up to `end` at most: for little more than the
  /// bytes that were received before. Returns how many bytes can be written; 0 if the system has no
  /// memory for them. One thread at a time.
  size_t Prepare(uint64_t begin, uint64_t end);

 private:
  const std::shared_ptr<InputArena> arena_;
  const uint64_t offset_;
  const uint64_t capacity_;
  /// The bytes of the block, from its begin, for which memory is reserved.
  uint64_t ready_;
};

/// Shared memory in which the server receives the large inputs of one model, and which the model's
/// workers map: one anonymous file, whose pages get memory when they are first needed. Blocks have
/// sizes of powers of two and are used again, the last one first. Thread-safe; nothing waits.
///
/// Workers can write to the whole arena at any time. It only has inputs of requests for this model.
class InputArena : public std::enable_shared_from_this<InputArena> {
 public:
  /// The size of the file, of which most never gets memory.
  static constexpr uint64_t kSize = uint64_t{4} << 30;
  static constexpr uint64_t kMinBlock = uint64_t{64} << 10;
  /// Larger inputs are copied: it takes too long to give the memory of such a block back.
  static constexpr uint64_t kMaxBlock = uint64_t{16} << 20;
  /// The most memory that free blocks keep, in bytes.
  static constexpr uint64_t kMaxKept = uint64_t{64} << 20;

  /// UNAVAILABLE if the system does not provide such a file.
  static backend::Error Create(std::shared_ptr<InputArena>* arena);
  InputArena(const InputArena&) = delete;
  InputArena& operator=(const InputArena&) = delete;
  ~InputArena();

  /// Returns a block of at least `size` bytes; null if the size is 0 or too large, or if the arena
  /// is full.
  std::shared_ptr<InputBlock> Take(uint64_t size) NEREID_EXCLUDES(mutex_);

  /// Returns the block in which `size` bytes at `data` are; null if they are not in one that is in
  /// use.
  std::shared_ptr<InputBlock> Find(const char* data, uint64_t size) NEREID_EXCLUDES(mutex_);

  int file() const { return file_.get(); }
  /// The bytes that free blocks keep.
  uint64_t kept_bytes() NEREID_EXCLUDES(mutex_);

 private:
  friend class InputBlock;
  struct FreeBlock {
    uint64_t offset = 0;
    uint64_t ready = 0;
  };
  static constexpr size_t kClasses = 9;  // from kMinBlock to kMaxBlock
  static_assert(kMinBlock << (kClasses - 1) == kMaxBlock);

  InputArena(base::UniqueFd file, char* data) : file_(std::move(file)), data_(data) {}

  void Give(uint64_t offset, uint64_t capacity, uint64_t ready) NEREID_EXCLUDES(mutex_);
  /// Takes a free block that keeps at least `least` bytes out of the lists, of another class than
  /// `other_than`. Returns false if there is none.
  bool TakeKept(size_t other_than, uint64_t least, size_t* its_class, FreeBlock* block)
      NEREID_REQUIRES(mutex_);

  const base::UniqueFd file_;
  char* const data_;
  base::Mutex mutex_;
  /// By the exponent of their size. Every block was reserved for here, so that freeing one takes no
  /// memory.
  std::array<std::vector<FreeBlock>, kClasses> free_ NEREID_GUARDED_BY(mutex_);
  std::array<size_t, kClasses> made_ NEREID_GUARDED_BY(mutex_) = {};
  /// The blocks in use by their offset.
  std::map<uint64_t, std::weak_ptr<InputBlock>> used_ NEREID_GUARDED_BY(mutex_);
  uint64_t end_ NEREID_GUARDED_BY(mutex_) = 0;
  uint64_t kept_ NEREID_GUARDED_BY(mutex_) = 0;
};

}  // namespace nereid::python
