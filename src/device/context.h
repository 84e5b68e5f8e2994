// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "base/result.h"
#include "device/cuda_driver.h"

namespace nereid::device {

/// Returns the primary context of a GPU, which is retained until the process ends. Returns the
/// errors of ScopedDevice::Enter.
base::Result<CuContext> PrimaryContext(int ordinal);

/// Makes the primary context of a GPU the current one of the calling thread, as long as the object
/// lives. The primary context is the one that the CUDA runtime and all frameworks use; it is made
/// by its first user, which takes a few hundred milliseconds and some hundred megabytes of the
/// GPU's memory, and it is kept until the process ends. Objects nest; each must be destroyed on the
/// thread that created it.
class ScopedDevice {
 public:
  /// `ordinal` counts the GPUs as the driver does. Returns UNAVAILABLE without a driver, and the
  /// driver's error for a GPU that does not exist or has failed.
  static base::Result<ScopedDevice> Enter(int ordinal);
  ScopedDevice(ScopedDevice&& other) noexcept : driver_(std::exchange(other.driver_, nullptr)) {}
  ScopedDevice& operator=(ScopedDevice&&) = delete;
  ~ScopedDevice();

 private:
  explicit ScopedDevice(const CudaDriver* driver) : driver_(driver) {}
  const CudaDriver* driver_;
};

}  // namespace nereid::device
