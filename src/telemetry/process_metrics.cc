// SPDX-License-Identifier: Apache-2.0
#include "telemetry/process_metrics.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/checked_math.h"
#include "base/duration.h"

namespace nereid::telemetry {
namespace {

// Files in /proc report a size of 0, so they are read until their end.
base::Result<std::string> ReadProcFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return base::Status::NotFound("cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Removes the next number from `text`, and blanks before it, and returns it.
std::optional<uint64_t> TakeNumber(std::string_view& text) {
  const size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return std::nullopt;
  text.remove_prefix(start);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// Returns the bytes of the line "<key>:  <n> kB".
base::Result<uint64_t> MeminfoBytes(std::string_view text, std::string_view key) {
  const std::string prefix = std::string(key) + ":";
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (!line.starts_with(prefix)) continue;
    line.remove_prefix(prefix.size());
    const std::optional<uint64_t> kilobytes = TakeNumber(line);
    if (!kilobytes) break;
    const auto bytes = base::CheckedMultiply<uint64_t>(*kilobytes, 1024);
    if (!bytes) break;
    return *bytes;
  }
  return base::Status::Internal("/proc/meminfo has no usable line " + prefix);
}

}  // namespace

base::Result<CpuTimes> ParseProcStat(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (!line.starts_with("cpu ")) {
    return base::Status::Internal("/proc/stat does not begin with the line of all processors");
  }
  line.remove_prefix(4);
  // The fields are user nice system idle iowait irq softirq steal. The guest times after them are
  // already part of user and nice.
  constexpr int kFields = 8;
  constexpr int kRequired = 4;  // very old kernels write only the first four
  CpuTimes times;
  for (int field = 0; field < kFields; ++field) {
    const std::optional<uint64_t> ticks = TakeNumber(line);
    if (!ticks) {
      if (field >= kRequired) break;
      return base::Status::Internal("/proc/stat has too few numbers in its first line");
    }
    times.total += *ticks;
    const bool idle = field == 3 || field == 4;
    if (!idle) times.busy += *ticks;
  }
  return times;
}

double CpuUtilization(const CpuTimes& before, const CpuTimes& after) {
  if (after.total <= before.total || after.busy <= before.busy) return 0;
  const double share = static_cast<double>(after.busy - before.busy) /
                       static_cast<double>(after.total - before.total);
  return share < 1 ? share : 1;
}

base::Result<MemoryUse> ParseMeminfo(std::string_view text) {
  NEREID_ASSIGN_OR_RETURN(const uint64_t total, MeminfoBytes(text, "MemTotal"));
  NEREID_ASSIGN_OR_RETURN(const uint64_t available, MeminfoBytes(text, "MemAvailable"));
  return MemoryUse{total, total > available ? total - available : 0};
}

ProcessMetrics::ProcessMetrics(Registry& registry, ProcessMetricsOptions options,
                               const base::Clock& clock, ReadText read)
    : options_(std::move(options)),
      clock_(clock),
      read_(read ? std::move(read) : ReadText(ReadProcFile)),
      last_times_([this] {
        const base::Result<CpuTimes> times = ReadCpuTimes();
        return times.ok() ? *times : CpuTimes{};
      }()),
      last_read_ns_(clock.NowNs()),
      collector_(registry, [this](MetricWriter& writer) { Collect(writer); }) {}

base::Result<CpuTimes> ProcessMetrics::ReadCpuTimes() const {
  NEREID_ASSIGN_OR_RETURN(const std::string text, read_("/proc/stat"));
  return ParseProcStat(text);
}

void ProcessMetrics::Collect(MetricWriter& writer) {
  const PoolUse pinned = options_.pinned_pool ? options_.pinned_pool() : PoolUse{};
  writer
      .Family(MetricKind::kGauge, "nv_pinned_memory_pool_total_bytes",
              "Size of the pinned host memory pool, in bytes")
      .Sample({}, pinned.total_bytes);
  writer
      .Family(MetricKind::kGauge, "nv_pinned_memory_pool_used_bytes",
              "Used bytes of the pinned host memory pool")
      .Sample({}, pinned.used_bytes);
  if (options_.cpu) CollectCpu(writer);
}

void ProcessMetrics::CollectCpu(MetricWriter& writer) {
  const base::Result<CpuTimes> times = ReadCpuTimes();
  if (times.ok()) {
    const base::MutexLock lock(mutex_);
    const uint64_t now_ns = clock_.NowNs();
    if (now_ns - last_read_ns_ >= base::Duration::Milliseconds(options_.interval_ms).ns()) {
      utilization_ = CpuUtilization(last_times_, *times);
      last_times_ = *times;
      last_read_ns_ = now_ns;
    }
    writer
        .Family(MetricKind::kGauge, "nv_cpu_utilization",
                "Fraction of the machine's CPU time that was busy, 0.0 to 1.0")
        .Sample({}, utilization_);
  }
  const base::Result<std::string> text = read_("/proc/meminfo");
  if (!text.ok()) return;
  const base::Result<MemoryUse> memory = ParseMeminfo(*text);
  if (!memory.ok()) return;
  writer
      .Family(MetricKind::kGauge, "nv_cpu_memory_total_bytes",
              "Total main memory of the machine, in bytes")
      .Sample({}, memory->total_bytes);
  writer
      .Family(MetricKind::kGauge, "nv_cpu_memory_used_bytes",
              "Used main memory of the machine, in bytes")
      .Sample({}, memory->used_bytes);
}

}  // namespace nereid::telemetry
