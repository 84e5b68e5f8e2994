// SPDX-License-Identifier: Apache-2.0
#include "memory/gpu/device_buffer.h"

#include "memory/gpu/gpu_pools.h"

namespace nereid::memory {

base::Result<DeviceBuffer> DeviceBuffer::OnGpu(int64_t gpu, size_t size) {
  NEREID_ASSIGN_OR_RETURN(char* const data, GpuPools::Get().TakeGpu(gpu, size));
  return DeviceBuffer(data, size, MemoryType::kGpu, gpu);
}

base::Result<DeviceBuffer> DeviceBuffer::Pinned(size_t size) {
  NEREID_ASSIGN_OR_RETURN(char* const data, GpuPools::Get().TakePinned(size));
  return DeviceBuffer(data, size, MemoryType::kCpuPinned, 0);
}

void DeviceBuffer::Free() {
  if (type_ == MemoryType::kGpu) {
    GpuPools::Get().GiveGpu(id_, data_);
  } else {
    GpuPools::Get().GivePinned(data_);
  }
  data_ = nullptr;
}

}  // namespace nereid::memory
