// SPDX-License-Identifier: Apache-2.0
#include "device/gpus.h"

#include <cstdio>
#include <utility>

#include "device/context.h"
#include "device/cuda_driver.h"

namespace nereid::device {
namespace {

constexpr int kTextSize = 256;

/// Returns the form in which all of NVIDIA's tools write a UUID.
std::string UuidText(const CuUuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += digits;
  }
  return text;
}

base::Result<Gpu> ReadGpu(const CudaDriver& driver, int ordinal) {
  const std::string what = "read the properties of GPU " + std::to_string(ordinal);
  Gpu gpu;
  gpu.ordinal = ordinal;
  CuDevice device = 0;
  CuUuid uuid;
  char text[kTextSize] = {};
  NEREID_RETURN_IF_ERROR(driver.ToStatus(driver.DeviceGet(&device, ordinal), what));
  NEREID_RETURN_IF_ERROR(driver.ToStatus(driver.DeviceGetName(text, kTextSize, device), what));
  text[kTextSize - 1] = '\0';
  gpu.name = text;
  NEREID_RETURN_IF_ERROR(driver.ToStatus(
      driver.DeviceGetAttribute(&gpu.major, kCudaAttributeComputeMajor, device), what));
  NEREID_RETURN_IF_ERROR(driver.ToStatus(
      driver.DeviceGetAttribute(&gpu.minor, kCudaAttributeComputeMinor, device), what));
  NEREID_RETURN_IF_ERROR(driver.ToStatus(driver.DeviceTotalMem(&gpu.memory, device), what));
  NEREID_RETURN_IF_ERROR(driver.ToStatus(driver.DeviceGetUuid(&uuid, device), what));
  gpu.uuid = UuidText(uuid);
  NEREID_RETURN_IF_ERROR(driver.ToStatus(driver.DeviceGetPciBusId(text, kTextSize, device), what));
  text[kTextSize - 1] = '\0';
  gpu.pci_id = text;
  return gpu;
}

}  // namespace

Gpus::Gpus(std::vector<Gpu> all, double min_capability) : min_capability_(min_capability) {
  for (Gpu& gpu : all) {
    // Less than half of the smallest step, so that 7.6 is not less than 7.6.
    constexpr double kTolerance = 0.01;
    const bool old = gpu.capability() + kTolerance < min_capability;
    (old ? too_old_ : used_).push_back(std::move(gpu));
  }
}

Gpus Gpus::Find(double min_capability) {
  Gpus none({}, min_capability);
  const auto found = CudaDriver::Get();
  if (!found.ok()) {
    none.none_because_ = found.status().message();
    none.driver_failed_ = found.status().code() != base::StatusCode::kUnavailable;
    return none;
  }
  const CudaDriver& driver = **found;
  int count = 0;
  const base::Status counted = driver.ToStatus(driver.DeviceGetCount(&count), "count the GPUs");
  if (!counted.ok() || count <= 0) {
    none.none_because_ = counted.ok() ? "the CUDA driver reports no GPU" : counted.message();
    none.driver_failed_ = !counted.ok();
    return none;
  }
  std::vector<Gpu> all;
  std::vector<std::string> failures;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    auto gpu = ReadGpu(driver, ordinal);
    if (gpu.ok()) {
      all.push_back(std::move(*gpu));
    } else {
      failures.push_back(gpu.status().message());
    }
  }
  Gpus gpus(std::move(all), min_capability);
  gpus.failures_ = std::move(failures);
  return gpus;
}

std::vector<int32_t> Gpus::Ordinals() const {
  std::vector<int32_t> ordinals;
  for (const Gpu& gpu : used_) ordinals.push_back(gpu.ordinal);
  return ordinals;
}

const Gpu* Gpus::ByOrdinal(int ordinal) const {
  for (const Gpu& gpu : used_) {
    if (gpu.ordinal == ordinal) return &gpu;
  }
  return nullptr;
}

base::Result<GpuMemory> ReadGpuMemory(int ordinal) {
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  NEREID_ASSIGN_OR_RETURN(const ScopedDevice device, ScopedDevice::Enter(ordinal));
  GpuMemory memory;
  NEREID_RETURN_IF_ERROR(
      driver->ToStatus(driver->MemGetInfo(&memory.free_bytes, &memory.total_bytes),
                       "read the memory of GPU " + std::to_string(ordinal)));
  return memory;
}

}  // namespace nereid::device
