// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "memory/gpu/copy.h"
#include "memory/gpu/device_buffer.h"
#include "memory/gpu/growable_buffer.h"
#include "memory/host_buffer.h"

namespace nereid::request {

/// A GPU on which a state should be; nothing: in host memory.
using StatePlace = std::optional<int64_t>;

/// The memory of one value of a state: host memory, memory of a GPU, or memory of a GPU that grows
/// in place. Movable. The functions for GPU memory wait for copies.
class StateMemory {
 public:
  StateMemory() = default;

  /// Returns cleared memory, or empty memory when it is short.
  static StateMemory OnHost(size_t size);
  /// Returns host memory with unknown content, or empty memory when it is short.
  static StateMemory OnHostUnset(size_t size);
  /// Returns cleared memory of a GPU. Returns the errors of DeviceBuffer and GrowableBuffer.
  static base::Result<StateMemory> OnGpu(int64_t gpu, size_t size, bool growable);

  /// Sets all bytes to zero.
  base::Status Clear();
  /// Copies the first `size` bytes of `from`, which may be elsewhere, to the begin.
  base::Status CopyFrom(const memory::CopyBatch::Source& from, size_t size);
  /// Makes growable memory at least `size` bytes large, where it is; new bytes are zero. Returns
  /// UNSUPPORTED for other memory.
  base::Status GrowInPlace(size_t size);

  char* data() const;
  /// Returns the number of bytes that the memory has room for.
  size_t size() const;
  memory::MemoryType type() const {
    return place() ? memory::MemoryType::kGpu : memory::MemoryType::kCpu;
  }
  int64_t type_id() const { return place().value_or(0); }
  StatePlace place() const;
  bool is_growable() const { return static_cast<bool>(growable_); }
  memory::CopyBatch::Source source() const { return {data(), type(), type_id()}; }
  explicit operator bool() const { return data() != nullptr; }

 private:
  // At most one of them has memory.
  memory::HostBuffer host_;
  memory::DeviceBuffer device_;
  memory::GrowableBuffer growable_;
};

}  // namespace nereid::request
