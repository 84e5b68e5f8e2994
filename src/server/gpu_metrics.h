// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "device/gpus.h"
#include "device/nvml.h"
#include "telemetry/labels.h"
#include "telemetry/metrics.h"

namespace nereid::server {

/// Writes the nv_gpu_* families and nv_energy_consumption at each scrape, with the label gpu_uuid.
/// It has no thread: the scraping thread asks NVML. A quantity that a GPU does not measure, or that
/// cannot be read at present, is absent. Thread-safe.
class GpuMetrics {
 public:
  /// Returns null without GPUs, and, with a warning in the log, if NVML cannot be used. Scrapes
  /// within `interval_ms` of a reading get the values of that reading. `registry` and `clock` must
  /// outlive the object.
  static std::unique_ptr<GpuMetrics> Create(telemetry::Registry& registry, const device::Gpus& gpus,
                                            uint64_t interval_ms,
                                            const base::Clock& clock = base::SteadyClock());

 private:
  /// A GPU and its last reading.
  struct Measured {
    std::string name;  // "GPU 0"
    telemetry::Labels labels;
    device::NvmlDevice device = nullptr;
    device::GpuReadings readings;
    double first_energy = 0;  // joules, when the server started
    bool failing = false;     // the failure has been logged
  };

  GpuMetrics(telemetry::Registry& registry, const device::Nvml& nvml, std::vector<Measured> gpus,
             uint64_t interval_ms, const base::Clock& clock);
  void Collect(telemetry::MetricWriter& writer);
  void Read() NEREID_REQUIRES(mutex_);

  const device::Nvml& nvml_;
  const uint64_t interval_ns_;
  const base::Clock& clock_;
  base::Mutex mutex_;
  std::vector<Measured> gpus_ NEREID_GUARDED_BY(mutex_);
  uint64_t last_read_ns_ NEREID_GUARDED_BY(mutex_) = 0;
  telemetry::ScopedCollector collector_;  // last, because it may be called as soon as it exists
};

}  // namespace nereid::server
