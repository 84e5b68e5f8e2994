// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "device/context.h"
#include "device/cuda_driver.h"
#include "nereid/backend/error.h"

namespace nereid::tensorrt {

using backend::Error;

/// Returns the error for a status of the folders `base` and `device`.
Error ToError(const base::Status& status);

/// Whether no later call can succeed on a GPU after a function of the driver has returned `result`,
/// because the process's context is destroyed or the GPU is lost.
bool IsSticky(device::CuResult result);

/// A GPU that models use. It remembers the error after which it cannot be used any more.
/// Thread-safe.
class Gpu {
 public:
  /// Finds a GPU. The object lives until the process ends. UNAVAILABLE, with the reason, without a
  /// driver; INTERNAL if the driver lacks the GPU.
  static Error Find(int ordinal, Gpu** gpu);

  int ordinal() const { return ordinal_; }
  const device::CudaDriver& driver() const { return driver_; }
  /// Returns the compute capability, such as "9.0".
  const std::string& capability() const { return capability_; }

  /// Returns success, or the driver's error: "GPU 0: cannot <what>: ...". Remembers sticky errors.
  Error Check(device::CuResult result, const std::string& what);
  /// Returns UNAVAILABLE, with the reason, if a sticky error was found.
  Error CheckUsable() const;
  /// Held by a thread that launches work if only one thread may do so (see Settings::one_launcher).
  base::Mutex& launching() { return launching_; }

 private:
  Gpu(int ordinal, const device::CudaDriver& driver, std::string capability)
      : ordinal_(ordinal), driver_(driver), capability_(std::move(capability)) {}

  const int ordinal_;
  const device::CudaDriver& driver_;
  const std::string capability_;
  base::Mutex launching_;  // guards no member: it orders calls of the driver
  mutable base::Mutex mutex_;
  std::string failure_ NEREID_GUARDED_BY(mutex_);
};

/// Makes a GPU the current one of the calling thread, as long as the object lives.
class CurrentGpu {
 public:
  /// Fails if the GPU is not usable.
  Error Enter(Gpu* gpu);
  /// Does the same to free what is on the GPU, and ignores that it may not be usable.
  void EnterToFree(Gpu* gpu);

 private:
  std::optional<device::ScopedDevice> scope_;
};

}  // namespace nereid::tensorrt
