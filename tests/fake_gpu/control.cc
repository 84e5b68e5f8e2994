// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include "device_memory.h"
#include "exports.h"
#include "settings.h"

using namespace nereid::fake_gpu;

FAKE_EXPORT size_t fake_gpu_allocated_bytes(int device) { return DeviceMemory::Get().Used(device); }

FAKE_EXPORT int fake_gpu_allocations(int device) {
  int count = 0;
  DeviceMemory::Get().Used(device, &count);
  return count;
}

FAKE_EXPORT size_t fake_gpu_pinned_bytes() { return DeviceMemory::Get().PinnedBytes(); }

FAKE_EXPORT long fake_gpu_calls(const char* function) { return CudaCalls().Count(function); }

FAKE_EXPORT void fake_gpu_fail(const char* failures) {
  CudaCalls().SetFailures(failures);
  for (size_t i = 0; i < Settings::Get().visible.size(); ++i) {
    SetDeviceError(static_cast<int>(i), kCudaSuccess);
  }
}

FAKE_EXPORT void* fake_gpu_host_address(uint64_t device_address, size_t size) {
  return DeviceMemory::Get().Alias(device_address, size);
}
