// SPDX-License-Identifier: Apache-2.0
#include "python/gpu_sharing.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/hex_text.h"
#include "device/cuda_driver.h"
#include "device/shared_allocation.h"

namespace nereid::python {
namespace {

bool CanShare(const device::CudaDriver& driver, int ordinal) {
  device::CuDevice device = 0;
  int files = 0;
  return driver.DeviceGet(&device, ordinal) == device::kCudaSuccess &&
         driver.DeviceGetAttribute(&files, device::kCudaAttributeFileHandles, device) ==
             device::kCudaSuccess &&
         files != 0;
}

std::vector<SharedGpu> AskDriver() {
  std::vector<SharedGpu> gpus;
  const auto driver = device::CudaDriver::Get();
  int count = 0;
  if (!driver.ok() || (*driver)->DeviceGetCount(&count) != device::kCudaSuccess) {
    return gpus;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    const auto uuid = device::UuidOf(ordinal);
    if (uuid.ok() && CanShare(**driver, ordinal)) {
      gpus.push_back({ordinal, *uuid});
    }
  }
  return gpus;
}

}  // namespace

const std::vector<SharedGpu>& SharedGpus() {
  static const auto* const gpus = new std::vector<SharedGpu>(AskDriver());
  return *gpus;
}

const SharedGpu* FindSharedGpu(int ordinal) {
  const std::vector<SharedGpu>& gpus = SharedGpus();
  const auto found = std::find_if(
      gpus.begin(), gpus.end(), [ordinal](const SharedGpu& gpu) { return gpu.ordinal == ordinal; });
  return found == gpus.end() ? nullptr : &*found;
}

int FindSharedGpu(const device::CuUuid& uuid) {
  const std::vector<SharedGpu>& gpus = SharedGpus();
  const auto found = std::find_if(gpus.begin(), gpus.end(), [&uuid](const SharedGpu& gpu) {
    return std::memcmp(&gpu.uuid, &uuid, sizeof(uuid)) == 0;
  });
  return found == gpus.end() ? -1 : found->ordinal;
}

std::string HexText(const device::CuUuid& uuid) {
  return base::HexText({reinterpret_cast<const uint8_t*>(uuid.bytes), sizeof(uuid.bytes)});
}

}  // namespace nereid::python
