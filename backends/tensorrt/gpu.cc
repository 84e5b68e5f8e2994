// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/gpu.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

namespace nereid::tensorrt {
namespace {

/// The GPUs that models have used, by ordinal.
struct GpuTable {
  base::Mutex mutex;
  std::map<int, Gpu*> by_ordinal NEREID_GUARDED_BY(mutex);
};

Error ReadCapability(const device::CudaDriver& driver, int ordinal, std::string* capability) {
  const std::string what = "use GPU " + std::to_string(ordinal);
  device::CuDevice device = 0;
  int major = 0;
  int minor = 0;
  NEREID_BACKEND_TRY(ToError(driver.ToStatus(driver.DeviceGet(&device, ordinal), what)));
  NEREID_BACKEND_TRY(ToError(driver.ToStatus(
      driver.DeviceGetAttribute(&major, device::kCudaAttributeComputeMajor, device), what)));
  NEREID_BACKEND_TRY(ToError(driver.ToStatus(
      driver.DeviceGetAttribute(&minor, device::kCudaAttributeComputeMinor, device), what)));
  *capability = std::to_string(major) + "." + std::to_string(minor);
  return {};
}

}  // namespace

Error ToError(const base::Status& status) {
  if (status.ok()) {
    return {};
  }
  return {status.code() == base::StatusCode::kUnavailable ? TRITONSERVER_ERROR_UNAVAILABLE
                                                          : TRITONSERVER_ERROR_INTERNAL,
          status.message()};
}

bool IsSticky(device::CuResult result) {
  // The numbers of CUresult, in this order: device unavailable, uncorrectable ECC error, NVLink
  // error, illegal address, launch timeout, destroyed context, assertion, hardware stack error,
  // illegal instruction, misaligned address, invalid address space, invalid program counter, launch
  // failure, unknown error.
  constexpr device::CuResult kSticky[] = {46,  214, 220, 700, 702, 709, 710,
                                          714, 715, 716, 717, 718, 719, 999};
  return std::find(std::begin(kSticky), std::end(kSticky), result) != std::end(kSticky);
}

Error Gpu::Find(int ordinal, Gpu** gpu) {
  static auto* const table = new GpuTable;  // plug-ins stay loaded
  const auto driver = device::CudaDriver::Get();
  if (!driver.ok()) {
    return ToError(driver.status());
  }
  const base::MutexLock lock(table->mutex);
  if (const auto found = table->by_ordinal.find(ordinal); found != table->by_ordinal.end()) {
    *gpu = found->second;
    return {};
  }
  std::string capability;
  NEREID_BACKEND_TRY(ReadCapability(**driver, ordinal, &capability));
  *gpu = new Gpu(ordinal, **driver, capability);
  table->by_ordinal.emplace(ordinal, *gpu);
  return {};
}

Error Gpu::Check(device::CuResult result, const std::string& what) {
  if (result == device::kCudaSuccess) {
    return {};
  }
  Error error =
      ToError(driver_.ToStatus(result, what).WithPrefix("GPU " + std::to_string(ordinal_) + ": "));
  if (IsSticky(result)) {
    const base::MutexLock lock(mutex_);
    if (failure_.empty()) {
      failure_ = error.message();
    }
  }
  return error;
}

Error Gpu::CheckUsable() const {
  const base::MutexLock lock(mutex_);
  if (failure_.empty()) {
    return {};
  }
  return {TRITONSERVER_ERROR_UNAVAILABLE,
          "GPU " + std::to_string(ordinal_) +
              " cannot be used until the server is started again, because of an earlier error: " +
              failure_};
}

Error CurrentGpu::Enter(Gpu* gpu) {
  NEREID_BACKEND_TRY(gpu->CheckUsable());
  auto scope = device::ScopedDevice::Enter(gpu->ordinal());
  if (!scope.ok()) {
    return ToError(scope.status());
  }
  scope_.emplace(std::move(*scope));
  return {};
}

void CurrentGpu::EnterToFree(Gpu* gpu) {
  if (auto scope = device::ScopedDevice::Enter(gpu->ordinal()); scope.ok()) {
    scope_.emplace(std::move(*scope));
  }
}

}  // namespace nereid::tensorrt
