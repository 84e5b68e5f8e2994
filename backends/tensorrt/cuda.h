// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "tensorrt/gpu.h"

// Owners of the driver's objects. All functions need the GPU as the current one of the thread,
// except on objects that are empty.
namespace nereid::tensorrt {

/// Memory that only grows, on a GPU or pinned on the host. Growing loses the content.
class CudaBuffer {
 public:
  enum class Place { kDevice, kHost };

  CudaBuffer(Gpu* gpu, Place place) : gpu_(gpu), place_(place) {}
  CudaBuffer(CudaBuffer&& other) noexcept
      : gpu_(other.gpu_),
        place_(other.place_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  CudaBuffer& operator=(CudaBuffer&&) = delete;
  ~CudaBuffer() { Release(); }

  /// Makes room for `size` bytes. Allocates at least one byte, because TensorRT needs an address
  /// for empty tensors too.
  Error Reserve(size_t size);
  /// Returns the memory, which the host may touch for kHost only. Null before Reserve.
  char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void Release();

  Gpu* const gpu_;
  const Place place_;
  char* data_ = nullptr;
  size_t size_ = 0;
};

/// A stream that does not synchronize with the default stream.
class CudaStream {
 public:
  CudaStream() = default;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream();

  /// `priority` is a number of the driver: a smaller one is more urgent, 0 is the default.
  Error Create(Gpu* gpu, int priority);
  /// Waits for the work in the stream. Does nothing before Create.
  Error Wait();
  /// Starts a copy between host and GPU, in either direction, by unified addresses.
  Error Copy(void* to, const void* from, size_t size, const char* what);
  device::CuStream get() const { return stream_; }

 private:
  Gpu* gpu_ = nullptr;
  device::CuStream stream_ = nullptr;
};

/// A point in the work of a stream.
class CudaEvent {
 public:
  CudaEvent() = default;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent();

  /// `busy_wait`: a thread that waits for the event uses the CPU, and learns of it sooner.
  Error Create(Gpu* gpu, bool busy_wait);
  /// Marks the end of the work that `stream` has at present.
  Error Record(const CudaStream& stream);
  /// Lets further work in `stream` wait for the event.
  Error Delay(const CudaStream& stream);
  /// Waits for the event.
  Error Wait();

 private:
  Gpu* gpu_ = nullptr;
  device::CuEvent event_ = nullptr;
};

/// Work that was recorded once and can be launched again at a low cost.
class CudaGraph {
 public:
  CudaGraph() = default;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  ~CudaGraph();

  /// Records what `launch` (a function that returns Error) adds to `stream`, without executing it.
  template <typename Launch>
  Error Capture(Gpu* gpu, const CudaStream& stream, Launch&& launch) {
    NEREID_BACKEND_TRY(Begin(gpu, stream));
    Error launched = launch();
    Error ended = End(stream);
    return launched.ok() ? std::move(ended) : std::move(launched);
  }
  Error Launch(const CudaStream& stream) const;

 private:
  Error Begin(Gpu* gpu, const CudaStream& stream);
  Error End(const CudaStream& stream);

  Gpu* gpu_ = nullptr;
  device::CuGraphExec launchable_ = nullptr;
};

}  // namespace nereid::tensorrt
