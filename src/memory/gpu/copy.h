// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "memory/memory_type.h"

namespace nereid::memory {

/// Copies between host memory, pinned memory and the memory of GPUs, in any direction: the only
/// code of the server that moves bytes to or from a GPU. Copies of several pieces run side by side
/// and are waited for once. Large copies from and to ordinary host memory go through the pinned
/// pool, as far as it has room, because the driver copies other memory in small steps. Without GPU
/// memory nothing but memmove is called. Not thread-safe.
class CopyBatch {
 public:
  CopyBatch();
  CopyBatch(const CopyBatch&) = delete;
  CopyBatch& operator=(const CopyBatch&) = delete;
  /// Waits for the copies, whose errors are lost: call Wait() before.
  ~CopyBatch();

  /// A place in memory of some kind.
  struct Place {
    char* data = nullptr;
    MemoryType type = MemoryType::kCpu;
    int64_t id = 0;  // the GPU, if the type is kGpu
  };
  struct Source {
    const char* data = nullptr;
    MemoryType type = MemoryType::kCpu;
    int64_t id = 0;
  };

  /// Begins to copy `size` bytes. Both places must stay valid, and `from` unchanged, until Wait()
  /// has returned. The places may overlap only if both are in host memory. Returns the driver's
  /// error; other copies of the batch may still run then. May wait when pinned memory is short.
  base::Status Add(const Place& to, const Source& from, size_t size);
  /// Begins to set `size` bytes to zero.
  base::Status AddZeros(const Place& to, size_t size);
  /// Waits until all copies are done. Returns the first error of a copy. Blocks, so it must not be
  /// called on an event loop when GPU memory takes part.
  base::Status Wait();

 private:
  class Lane;
  base::Result<Lane*> LaneOf(int64_t gpu);

  struct Lanes;
  std::unique_ptr<Lanes> lanes_;  // null until GPU memory takes part
};

/// Copies one piece and waits for it.
base::Status CopyBytes(const CopyBatch::Place& to, const CopyBatch::Source& from, size_t size);

}  // namespace nereid::memory
