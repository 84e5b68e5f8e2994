// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "telemetry/metrics.h"

namespace nereid::telemetry {

/// Processor time of the whole machine since it started, in clock ticks.
struct CpuTimes {
  uint64_t busy = 0;
  uint64_t total = 0;
};

/// From the first line of /proc/stat ("cpu  user nice system idle iowait irq softirq steal …").
/// Idle and waiting for input/output are not busy.
base::Result<CpuTimes> ParseProcStat(std::string_view text);

/// The share of busy time between two readings, 0..1; 0 when no time has passed.
double CpuUtilization(const CpuTimes& before, const CpuTimes& after);

struct MemoryUse {
  uint64_t total_bytes = 0;
  uint64_t used_bytes = 0;  // total less what /proc/meminfo calls available
};

/// From /proc/meminfo ("MemTotal:  16316412 kB", "MemAvailable: …").
base::Result<MemoryUse> ParseMeminfo(std::string_view text);

/// A memory pool as its owner sees it at the moment of a scrape.
struct PoolUse {
  uint64_t total_bytes = 0;
  uint64_t used_bytes = 0;
};

struct ProcessMetricsOptions {
  /// The nv_cpu_* families (`--allow-cpu-metrics`).
  bool cpu = true;
  /// Scrapes closer together than this get the utilization of the last reading: over a shorter
  /// time a clock tick (10 ms) is too coarse. `--metrics-interval-ms`.
  uint64_t interval_ms = 2000;
  /// The pinned host memory pool; without a function it is reported as empty (no GPU).
  std::function<PoolUse()> pinned_pool;
};

/// Writes the pinned-memory and machine families into each scrape. It has no thread of its own: the
/// scrape reads /proc. Where /proc cannot be read the nv_cpu_* families are absent.
class ProcessMetrics {
 public:
  using ReadText = std::function<base::Result<std::string>(const std::string& path)>;

  /// `registry` and `clock` must outlive this. `read` replaces the reading of /proc in tests.
  ProcessMetrics(Registry& registry, ProcessMetricsOptions options,
                 const base::Clock& clock = base::SteadyClock(), ReadText read = {});

 private:
  void Collect(MetricWriter& writer);
  void CollectCpu(MetricWriter& writer);
  base::Result<CpuTimes> ReadCpuTimes() const;

  const ProcessMetricsOptions options_;
  const base::Clock& clock_;
  const ReadText read_;
  std::mutex mutex_;  // guards the three below
  CpuTimes last_times_;
  uint64_t last_read_ns_ = 0;
  double utilization_ = 0;
  ScopedCollector collector_;  // last: it must not run before the rest stands
};

}  // namespace nereid::telemetry
