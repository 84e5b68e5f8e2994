// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "device/cuda_api.h"

namespace nereid::fake_gpu {

using device::CuIpcHandle;
using device::CuMemoryHandle;
using device::CuPointer;
using device::CuResult;

/// The unit of memory that is mapped at reserved addresses.
inline constexpr size_t kGranularity = size_t{2} << 20;

/// The memory of all GPUs. Each GPU's memory is a file in memory that is mapped twice: at the
/// device address, where every access of the process is a segmentation fault, and at an alias that
/// the fake itself uses. So code that touches device memory from the host fails as on a GPU.
/// Thread-safe. Every function returns the error that CUDA returns.
class DeviceMemory {
 public:
  static DeviceMemory& Get();

  CuResult Allocate(int device, size_t size, CuPointer* data);
  CuResult Free(CuPointer data);
  /// Finds the allocation that contains `data`. Each of the results may be null.
  CuResult Find(CuPointer data, CuPointer* base, size_t* size, int* device) const;
  /// Returns the bytes that are allocated on a device, and in `count` the number of allocations.
  size_t Used(int device, int* count = nullptr) const;

  CuResult AllocatePinned(size_t size, void** data);
  CuResult FreePinned(void* data);
  /// Tells whether the address is in memory that AllocatePinned returned.
  bool IsPinned(CuPointer data) const;
  size_t PinnedBytes() const;

  CuResult Export(CuPointer data, CuIpcHandle* handle) const;
  CuResult Import(const CuIpcHandle& handle, CuPointer* data);
  CuResult CloseImported(CuPointer data);

  CuResult Reserve(size_t size, CuPointer* address);
  CuResult FreeReserved(CuPointer address, size_t size);
  /// `is_shared` memory can be exported. It is a file of its own.
  CuResult Create(int device, size_t size, bool is_shared, CuMemoryHandle* handle);
  CuResult ExportPhysical(CuMemoryHandle handle, int* file) const;
  CuResult ImportPhysical(int file, CuMemoryHandle* handle);
  CuResult Release(CuMemoryHandle handle);
  CuResult Map(CuPointer address, size_t size, CuMemoryHandle handle);
  CuResult Unmap(CuPointer address, size_t size);
  CuResult SetAccess(CuPointer address, size_t size);

  /// Copies between any two places; addresses that are no device memory are host memory.
  CuResult Copy(CuPointer to, CuPointer from, size_t size) const;
  CuResult Set(CuPointer data, unsigned char value, size_t size) const;
  /// Returns the alias of device memory that is contiguous, or null.
  char* Alias(CuPointer data, size_t size) const;
  /// Tells whether the address was ever device memory.
  bool IsDevice(CuPointer data) const;

 private:
  enum class Origin { kAllocated, kImported, kMapped };

  /// Accessible device memory, or a part of a reserved range with memory behind it.
  struct Range {
    size_t size = 0;
    int device = 0;
    char* alias = nullptr;
    Origin origin = Origin::kAllocated;
    CuMemoryHandle handle = 0;
    bool accessible = true;
  };

  /// The memory of a GPU.
  struct Arena {
    int file = -1;
    size_t size = 0;
    CuPointer address = 0;
    char* alias = nullptr;
    std::map<size_t, size_t> blocks;  // offset and size
    size_t used = 0;
  };

  struct Physical {
    int device = 0;
    size_t offset = 0;  // in the arena, unless it is shared
    size_t size = 0;
    int references = 1;
    int file = -1;          // of shared memory
    char* alias = nullptr;  // of shared memory
    bool is_imported = false;
  };

  using Pieces = std::vector<std::pair<char*, size_t>>;
  using Ranges = std::map<CuPointer, Range>;

  DeviceMemory();
  CuResult Take(int device, size_t size, size_t* offset);
  void Give(int device, size_t offset);
  void Drop(CuMemoryHandle handle);
  CuResult AddShared(Physical memory, CuMemoryHandle* handle);
  bool IsDeviceLocked(CuPointer data) const;
  Ranges::const_iterator Containing(CuPointer data) const;
  CuResult Resolve(CuPointer data, size_t size, Pieces* pieces) const;

  mutable std::shared_mutex mutex_;
  std::vector<Arena> arenas_;
  Ranges ranges_;
  std::map<CuPointer, size_t> areas_;  // every address range that is or was device memory
  std::map<CuPointer, size_t> reservations_;
  std::map<CuMemoryHandle, Physical> physical_;
  std::map<CuPointer, size_t> pinned_;
  CuMemoryHandle next_handle_ = 1;
};

}  // namespace nereid::fake_gpu
