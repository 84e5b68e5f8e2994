// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "memory/gpu/range_allocator.h"

namespace nereid::memory {

struct PoolUse {
  uint64_t total_bytes = 0;
  uint64_t used_bytes = 0;
};

/// One block of GPU memory or pinned host memory from which users take parts. The block is taken
/// from the driver with the first part. Thread-safe.
class MemoryPool {
 public:
  enum class Kind { kPinned, kGpu };

  /// `gpu` is the GPU of the memory; for pinned memory the one that pins it for all.
  MemoryPool(Kind kind, int gpu, uint64_t bytes) : kind_(kind), gpu_(gpu), bytes_(bytes) {}
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  /// Returns the block to the driver. No part may be in use.
  ~MemoryPool();

  /// Returns UNAVAILABLE if the pool has no room, and the driver's error if there is no block.
  base::Result<char*> Take(size_t size);
  /// Returns false if no part begins at `data`.
  bool Give(const void* data);

  /// Returns whether the block was taken from the driver.
  bool has_memory() const;
  PoolUse use() const;
  /// Returns the block to the driver if no part is in use.
  void Trim();

 private:
  std::string Name() const;
  base::Status TakeBlock() NEREID_REQUIRES(mutex_);
  void FreeBlock() NEREID_REQUIRES(mutex_);

  const Kind kind_;
  const int gpu_;
  const uint64_t bytes_;
  mutable base::Mutex mutex_;
  char* block_ NEREID_GUARDED_BY(mutex_) = nullptr;
  std::optional<RangeAllocator> ranges_ NEREID_GUARDED_BY(mutex_);  // set with block_
};

}  // namespace nereid::memory
