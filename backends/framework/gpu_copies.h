// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/status.h"
#include "device/stream.h"
#include "nereid/backend/error.h"

namespace nereid::framework {

using backend::Error;

/// Returns the error of the C API for a status of the engine's libraries.
Error ToError(const base::Status& status);

/// Kernels access several elements at once. A tensor in GPU memory is used in place only if its
/// address is a multiple of this number of bytes.
inline constexpr uint32_t kGpuAlignment = 64;

/// Copies between host memory and the memory of GPUs for one instance. Copies run side by side and
/// are waited for once. A place is an address and the ordinal of the GPU whose memory it is in, or
/// -1 for host memory. Opens nothing until GPU memory takes part. Not thread-safe.
class GpuCopies {
 public:
  /// Begins to copy `size` bytes. Both places must stay valid until Wait has returned.
  Error Add(char* to, int to_gpu, const char* from, int from_gpu, uint64_t size);

  /// Waits until all copies are done. Returns the first error of a copy. Costs nothing if there are
  /// none.
  Error Wait();

 private:
  Error StreamOf(int gpu, const device::Stream** stream);

  std::map<int, device::Stream> streams_;  // by GPU
  bool pending_ = false;
};

/// Returns the driver's error if a GPU cannot be used any more in this process, because its context
/// is destroyed or it is lost; otherwise an empty text.
std::string GpuFailure(int gpu);

/// Memory of a GPU that an instance keeps between executions. Not thread-safe.
class GpuScratch {
 public:
  GpuScratch() = default;
  GpuScratch(GpuScratch&& other) noexcept;
  GpuScratch& operator=(GpuScratch&&) = delete;
  ~GpuScratch() { Free(); }

  /// Sets `data` to at least `size` bytes with undefined content on a GPU, valid until the next
  /// call or Trim. No work on the memory of an earlier call may be left. UNAVAILABLE if the GPU has
  /// too little memory.
  Error Reserve(int gpu, uint64_t size, char** data);

  /// Frees the memory if it is large.
  void Trim();

 private:
  void Free();

  int gpu_ = -1;
  uint64_t data_ = 0;
  uint64_t capacity_ = 0;
};

}  // namespace nereid::framework
