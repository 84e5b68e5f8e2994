// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>
#include <utility>

#include "device/context.h"
#include "device/cuda_driver.h"

namespace nereid::memory {

/// GPU memory of a client, in this process; the fake driver opens its handle with
/// NEREID_FAKE_GPU_SAME_PROCESS_IPC=1. Aborts the test program if there is no GPU.
class ClientGpuMemory {
 public:
  ClientGpuMemory(int gpu, size_t size)
      : current_(std::move(device::ScopedDevice::Enter(gpu)).value()),
        driver_(std::move(device::CudaDriver::Get()).value()) {
    if (driver_->MemAlloc(&data_, size) != device::kCudaSuccess) std::abort();
  }
  ClientGpuMemory(const ClientGpuMemory&) = delete;
  ClientGpuMemory& operator=(const ClientGpuMemory&) = delete;
  ~ClientGpuMemory() { driver_->MemFree(data_); }

  void* data() const { return reinterpret_cast<void*>(data_); }
  std::string handle() const {
    device::CuIpcHandle handle = {};
    if (driver_->IpcGetMemHandle(&handle, data_) != device::kCudaSuccess) std::abort();
    return {handle.bytes, sizeof(handle.bytes)};
  }

 private:
  const device::ScopedDevice current_;
  const device::CudaDriver* const driver_;
  device::CuPointer data_ = 0;
};

}  // namespace nereid::memory
