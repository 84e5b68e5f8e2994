// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "framework/gpu_copies.h"
#include "nereid/backend/error.h"

namespace nereid::python {

/// The streams on which the tensors of one worker are copied from and to GPU memory. They are made
/// when they are first needed and kept for the next messages. Thread-safe.
class CopyStreams {
 public:
  std::unique_ptr<framework::GpuCopies> Take() NEREID_EXCLUDES(mutex_);
  void Give(std::unique_ptr<framework::GpuCopies> copies) NEREID_EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  std::vector<std::unique_ptr<framework::GpuCopies>> free_ NEREID_GUARDED_BY(mutex_);
};

/// An address and the ordinal of the GPU whose memory it is, or -1 for host memory.
struct Place {
  char* data = nullptr;
  int gpu = -1;
};

/// The copies of the tensors of one message. Those of GPU memory run side by side until Wait; a
/// copy from host to host memory is done at once and needs no stream. Not thread-safe.
class Copies {
 public:
  /// `streams` outlives the object.
  explicit Copies(CopyStreams* streams) : streams_(*streams) {}
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  /// Waits, as Wait does.
  ~Copies();

  /// Begins to copy `size` bytes. Both places must stay valid until Wait has returned. Returns the
  /// driver's error.
  backend::Error Add(Place to, const char* from, int from_gpu, uint64_t size);

  /// Waits until all copies are done. Returns the first error of a copy.
  backend::Error Wait();

 private:
  CopyStreams& streams_;
  /// Null until GPU memory takes part.
  std::unique_ptr<framework::GpuCopies> on_gpu_;
};

}  // namespace nereid::python
