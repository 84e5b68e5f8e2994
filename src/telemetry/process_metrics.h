// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "telemetry/metrics.h"

namespace nereid::telemetry {

/// Processor time of the whole machine since it was started, in clock ticks.
struct CpuTimes {
  uint64_t busy = 0;
  uint64_t total = 0;
};

/// Parses the first line of /proc/stat ("cpu  user nice system idle iowait irq softirq steal …").
/// Idle and iowait are not counted as busy. INTERNAL if the line has another form.
base::Result<CpuTimes> ParseProcStat(std::string_view text);

/// Returns the share of busy time between two readings, from 0 to 1; 0 if no time has passed.
double CpuUtilization(const CpuTimes& before, const CpuTimes& after);

struct MemoryUse {
  uint64_t total_bytes = 0;
  uint64_t used_bytes = 0;  // the total minus MemAvailable of /proc/meminfo
};

/// Parses /proc/meminfo ("MemTotal:  16316412 kB", "MemAvailable: …"). INTERNAL if a line is
/// missing.
base::Result<MemoryUse> ParseMeminfo(std::string_view text);

/// The use of a memory pool, as its owner reports it at a scrape.
struct PoolUse {
  uint64_t total_bytes = 0;
  uint64_t used_bytes = 0;
};

struct ProcessMetricsOptions {
  /// Whether to write the nv_cpu_* families (`--allow-cpu-metrics`).
  bool cpu = true;
  /// The shortest time between two readings of the utilization (`--metrics-interval-ms`). Scrapes
  /// in between get the last value: over a shorter time the clock tick of 10 ms is too coarse.
  uint64_t interval_ms = 2000;
  /// Returns the use of the pinned memory pool. Without a function an empty pool is reported (no
  /// GPU).
  std::function<PoolUse()> pinned_pool;
};

/// Writes the pinned-memory and machine families at each scrape. It has no thread: the scraping
/// thread reads /proc. If /proc cannot be read, the nv_cpu_* families are absent.
class ProcessMetrics {
 public:
  using ReadText = std::function<base::Result<std::string>(const std::string& path)>;

  /// `registry` and `clock` must outlive this object. `read` replaces the reading of /proc in
  /// tests.
  ProcessMetrics(Registry& registry, ProcessMetricsOptions options,
                 const base::Clock& clock = base::SteadyClock(), ReadText read = {});

 private:
  void Collect(MetricWriter& writer);
  void CollectCpu(MetricWriter& writer);
  base::Result<CpuTimes> ReadCpuTimes() const;

  const ProcessMetricsOptions options_;
  const base::Clock& clock_;
  const ReadText read_;
  base::Mutex mutex_;
  CpuTimes last_times_ NEREID_GUARDED_BY(mutex_);
  uint64_t last_read_ns_ NEREID_GUARDED_BY(mutex_) = 0;
  double utilization_ NEREID_GUARDED_BY(mutex_) = 0;
  ScopedCollector collector_;  // last, because it may be called as soon as it exists
};

}  // namespace nereid::telemetry
