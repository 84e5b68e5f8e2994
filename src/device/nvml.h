// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "device/nvml_api.h"

namespace nereid::device {

/// What NVML measures of a GPU. A quantity that the GPU does not measure (power on some laptops,
/// the utilization of a MIG slice), or whose reading failed, is absent.
struct GpuReadings {
  std::optional<double> utilization;  // busy part of the last sample period, 0 to 1
  std::optional<uint64_t> memory_total_bytes;
  std::optional<uint64_t> memory_used_bytes;  // by all processes
  std::optional<double> power_watts;
  std::optional<double> power_limit_watts;
  std::optional<double> energy_joules;  // since the driver was loaded
  /// The first error that is not "not supported"; "" if there was none.
  std::string error;
};

/// The functions of NVML. The library libnvidia-ml.so.1 is opened when its first user asks for it,
/// and never linked. Thread-safe.
struct Nvml {
#define NEREID_NVML_MEMBER(name, symbol, result, parameters) result(*name) parameters = nullptr;
  NEREID_NVML_FUNCTIONS(NEREID_NVML_MEMBER)
#undef NEREID_NVML_MEMBER

  /// Opens and initializes NVML, once; it stays open until the process ends. Returns UNAVAILABLE,
  /// with the reason, if there is none, if it lacks a function, or if it cannot be initialized.
  static base::Result<const Nvml*> Get();

  /// Finds a GPU by its PCI id: the ordinals of NVML are not those of CUDA, which
  /// CUDA_VISIBLE_DEVICES changes.
  base::Result<NvmlDevice> FindDevice(const std::string& pci_id) const;
  GpuReadings Read(NvmlDevice device) const;

  /// Returns OK for kNvmlSuccess, else UNAVAILABLE: "cannot <what>: <text of NVML>".
  base::Status ToStatus(NvmlResult result, const std::string& what) const;
};

}  // namespace nereid::device
