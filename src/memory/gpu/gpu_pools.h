// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "base/mutex.h"
#include "base/result.h"
#include "memory/gpu/memory_pool.h"

namespace nereid::memory {

/// The sizes of the pools of the process (--pinned-memory-pool-byte-size and the flags beside it).
struct GpuMemorySettings {
  static constexpr uint64_t kPoolBytes = uint64_t{64} << 20;
  static constexpr uint64_t kAddressBytes = uint64_t{1} << 30;

  uint64_t pinned_pool_bytes = uint64_t{256} << 20;
  std::map<int, uint64_t> pool_bytes;     // by GPU; kPoolBytes for a GPU that is not listed
  std::map<int, uint64_t> address_bytes;  // of a growable buffer, by GPU; likewise kAddressBytes
  bool peer_access = true;                // whether GPUs may access each other's memory directly
};

/// The process's memory for the use of GPUs: a pool of pinned host memory, and a pool in the memory
/// of each GPU, as all servers of a process share the GPUs. A pool takes its memory from the driver
/// when it is first used, and nothing happens on a machine without a GPU. Thread-safe. The
/// functions may call the driver, so they must not be called on an event loop, except Give and the
/// functions that only read.
class GpuPools {
 public:
  static GpuPools& Get();
  /// Returns whether the process has a driver with GPUs. Opens the driver, once.
  static bool HasDriver();

  /// Sets the sizes of the pools, unless one of them has its memory already: then the first
  /// settings stay, and a difference is logged.
  void Configure(GpuMemorySettings settings);
  GpuMemorySettings settings() const;

  /// Takes `size` bytes of the memory of a GPU, aligned to 256 bytes and not initialized. Returns
  /// UNAVAILABLE if there is no driver or the pool has no room, and INVALID_ARGUMENT for a GPU that
  /// does not exist. The message names the flag that makes the pool larger.
  base::Result<char*> TakeGpu(int64_t gpu, size_t size);
  /// Gives memory of TakeGpu back. Returns false if it is none.
  bool GiveGpu(int64_t gpu, const void* data);
  /// Does the same for host memory that the driver has pinned: every GPU can copy to and from it
  /// while the CPU does something else.
  base::Result<char*> TakePinned(size_t size);
  bool GivePinned(const void* data);

  /// Returns the size of the pinned pool and what is in use; an empty pool without a driver.
  PoolUse PinnedUse();
  /// Returns the same for the pools of the GPUs that were used.
  std::map<int, PoolUse> GpuUses() const;

  /// Returns the memory of the pools that nobody uses to the driver.
  void Trim();

 private:
  GpuPools() = default;
  base::Result<std::shared_ptr<MemoryPool>> PoolOf(int64_t gpu);
  std::shared_ptr<MemoryPool> PinnedPool();

  mutable base::Mutex mutex_;
  GpuMemorySettings settings_ NEREID_GUARDED_BY(mutex_);
  std::map<int, std::shared_ptr<MemoryPool>> pools_ NEREID_GUARDED_BY(mutex_);
  std::shared_ptr<MemoryPool> pinned_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::memory
