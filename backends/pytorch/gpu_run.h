// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>

#include <optional>

namespace nereid::pytorch {

/// Returns the device of a GPU, or the CPU for -1.
c10::Device DeviceOf(int gpu);

/// Returns a stream of a GPU for one instance. Throws c10::Error.
c10::Stream NewStream(int gpu);

/// Makes a stream the current one of the calling thread and its GPU, as long as the object lives.
/// At the end it waits for the stream, because the work refers to memory of the requests. Without a
/// stream, for an instance on the CPU, it does nothing.
class GpuRun {
 public:
  explicit GpuRun(const std::optional<c10::Stream>& stream) : stream_(stream), guard_(stream) {}
  GpuRun(const GpuRun&) = delete;
  GpuRun& operator=(const GpuRun&) = delete;
  ~GpuRun();

  /// Waits until the work is done. Throws the errors of the GPU, which come late.
  void Wait();

 private:
  const std::optional<c10::Stream>& stream_;
  const c10::OptionalStreamGuard guard_;
  bool waited_ = false;
};

/// Returns a tensor on the stream's GPU with the bytes at `data`, which must stay valid until the
/// run has been waited for. `host` describes the tensor in host memory.
at::Tensor CopyToGpu(const at::Tensor& host, const c10::Stream& stream);

/// Returns a copy of the tensor at `data` in the memory of the stream's GPU. `data` must stay valid
/// until the run has been waited for.
at::Tensor CopyOnGpu(const char* data, c10::IntArrayRef shape, c10::ScalarType type,
                     const c10::Stream& stream);

/// Returns a contiguous copy in pinned host memory of a tensor on a GPU. Its content is there when
/// the run has been waited for.
at::Tensor CopyToHost(const at::Tensor& tensor);

}  // namespace nereid::pytorch
