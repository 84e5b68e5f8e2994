// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace nereid::device {

/// A GPU as the driver describes it.
struct Gpu {
  int ordinal = 0;  // the number by which configurations and the driver name it
  std::string name;
  int major = 0, minor = 0;  // the compute capability
  size_t memory = 0;         // bytes
  std::string pci_id;        // "0000:01:00.0"
  std::string uuid;          // "GPU-fa4e0000-0000-4000-8000-000000000001"

  double capability() const { return major + minor / 10.0; }
};

/// The GPUs of a machine, divided into those that the server uses and those that it does not. A
/// value: what it says does not change when a GPU fails.
class Gpus {
 public:
  /// No GPUs.
  Gpus() = default;
  /// Divides GPUs by the compute capability that they must have.
  Gpus(std::vector<Gpu> all, double min_capability);

  /// Asks the driver, which is opened if this is its first use. Without a driver or a GPU the
  /// result is empty and says why. A GPU whose properties cannot be read is left out. Blocks: a
  /// driver takes up to a second to initialize.
  static Gpus Find(double min_capability);

  /// Returns the GPUs that are used, by ordinal.
  const std::vector<Gpu>& used() const { return used_; }
  /// Returns the GPUs whose compute capability is too low, by ordinal.
  const std::vector<Gpu>& too_old() const { return too_old_; }
  double min_capability() const { return min_capability_; }
  bool empty() const { return used_.empty(); }
  /// Returns the ordinals of the GPUs that are used, ascending. They may have gaps.
  std::vector<int32_t> Ordinals() const;
  /// Returns the GPU with this ordinal if it is used, else null.
  const Gpu* ByOrdinal(int ordinal) const;

  /// Returns why the driver reported no GPUs; "" if it reported some.
  const std::string& none_because() const { return none_because_; }
  /// Returns whether that is because the driver is there and fails, which is a fault of the
  /// machine.
  bool driver_failed() const { return driver_failed_; }
  /// Returns texts about GPUs that could not be read.
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  std::vector<Gpu> used_, too_old_;
  double min_capability_ = 0;
  std::string none_because_;
  bool driver_failed_ = false;
  std::vector<std::string> failures_;
};

/// The memory of a GPU: that of the process and of all others.
struct GpuMemory {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
};

/// Returns the memory of a GPU at present. The first call for a GPU makes its primary context.
/// Returns UNAVAILABLE without a driver, and the driver's error for a GPU that has failed.
base::Result<GpuMemory> ReadGpuMemory(int ordinal);

}  // namespace nereid::device
