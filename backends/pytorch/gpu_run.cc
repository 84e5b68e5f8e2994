// SPDX-License-Identifier: Apache-2.0
#include "pytorch/gpu_run.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <exception>

namespace nereid::pytorch {

c10::Device DeviceOf(int gpu) {
  return gpu < 0 ? c10::Device(c10::kCPU)
                 : c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(gpu));
}

c10::Stream NewStream(int gpu) {
  at::globalContext().lazyInitDevice(c10::kCUDA);
  return c10::impl::VirtualGuardImpl(c10::kCUDA).getStreamFromGlobalPool(DeviceOf(gpu));
}

GpuRun::~GpuRun() {
  if (!stream_ || waited_) {
    return;
  }
  try {
    stream_->synchronize();
  } catch (const std::exception&) {
    // The run has failed with the error of the GPU, or an earlier one.
  }
}

void GpuRun::Wait() {
  if (stream_) {
    stream_->synchronize();
    waited_ = true;
  }
}

at::Tensor CopyToGpu(const at::Tensor& host, const c10::Stream& stream) {
  return host.to(stream.device(), host.scalar_type(), /*non_blocking=*/true, /*copy=*/true);
}

at::Tensor CopyOnGpu(const char* data, c10::IntArrayRef shape, c10::ScalarType type,
                     const c10::Stream& stream) {
  const auto options = c10::TensorOptions().dtype(type).device(stream.device());
  // The const_cast is safe: the tensor is only read.
  return at::from_blob(const_cast<char*>(data), shape, options)  // NOLINT
      .clone(at::MemoryFormat::Contiguous);
}

at::Tensor CopyToHost(const at::Tensor& tensor) {
  at::Tensor host = at::empty(tensor.sizes(),
                              c10::TensorOptions().dtype(tensor.scalar_type()).pinned_memory(true));
  host.copy_(tensor, /*non_blocking=*/true);
  return host;
}

}  // namespace nereid::pytorch
