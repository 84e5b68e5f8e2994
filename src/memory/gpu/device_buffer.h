// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/result.h"
#include "memory/memory_type.h"

namespace nereid::memory {

/// An owned block of GPU memory or of pinned host memory, from the process's pools (GpuPools). It
/// is not initialized and may hold the bytes of an earlier owner. Movable. May be destroyed by any
/// thread, also by an event loop, but not while a copy uses it.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Return the errors of GpuPools::TakeGpu and TakePinned. May call the driver.
  static base::Result<DeviceBuffer> OnGpu(int64_t gpu, size_t size);
  static base::Result<DeviceBuffer> Pinned(size_t size);
  DeviceBuffer(DeviceBuffer&& other) noexcept { Swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    DeviceBuffer taken(std::move(other));
    Swap(taken);
    return *this;
  }
  ~DeviceBuffer() {
    if (data_ != nullptr) Free();
  }

  /// An address that the CPU may use only if memory_type() is kCpuPinned.
  char* data() const { return data_; }
  size_t size() const { return size_; }
  MemoryType memory_type() const { return type_; }
  int64_t memory_type_id() const { return id_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  DeviceBuffer(char* data, size_t size, MemoryType type, int64_t id)
      : data_(data), size_(size), type_(type), id_(id) {}
  void Free();
  void Swap(DeviceBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(type_, other.type_);
    std::swap(id_, other.id_);
  }

  char* data_ = nullptr;
  size_t size_ = 0;
  MemoryType type_ = MemoryType::kGpu;
  int64_t id_ = 0;
};

}  // namespace nereid::memory
