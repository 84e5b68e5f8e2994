// SPDX-License-Identifier: Apache-2.0
#include "server/gpu_metrics.h"

#include <algorithm>
#include <utility>

#include "base/duration.h"
#include "base/log.h"

namespace nereid::server {

using device::GpuReadings;
using telemetry::MetricKind;
using telemetry::MetricWriter;

namespace {

/// Writes a quantity if it is there.
template <typename Value>
void Write(MetricWriter& writer, MetricKind kind, const char* name, const char* help,
           const telemetry::Labels& labels, const std::optional<Value>& value) {
  if (value) writer.Family(kind, name, help).Sample(labels, *value);
}

void WriteReadings(const GpuReadings& readings, const telemetry::Labels& labels,
                   MetricWriter& writer) {
  Write(writer, MetricKind::kGauge, "nv_gpu_utilization", "Busy part of the GPU's time, 0.0 to 1.0",
        labels, readings.utilization);
  Write(writer, MetricKind::kGauge, "nv_gpu_memory_total_bytes",
        "Total memory of the GPU, in bytes", labels, readings.memory_total_bytes);
  Write(writer, MetricKind::kGauge, "nv_gpu_memory_used_bytes",
        "Memory of the GPU that all processes use, in bytes", labels, readings.memory_used_bytes);
  Write(writer, MetricKind::kGauge, "nv_gpu_power_usage", "Power that the GPU draws, in watts",
        labels, readings.power_watts);
  Write(writer, MetricKind::kGauge, "nv_gpu_power_limit", "Limit of the GPU's power, in watts",
        labels, readings.power_limit_watts);
}

}  // namespace

std::unique_ptr<GpuMetrics> GpuMetrics::Create(telemetry::Registry& registry,
                                               const device::Gpus& gpus, uint64_t interval_ms,
                                               const base::Clock& clock) {
  if (gpus.empty()) return nullptr;
  const auto nvml = device::Nvml::Get();
  if (!nvml.ok()) {
    LOG_WARNING << "There are no metrics of GPUs: " << nvml.status().message();
    return nullptr;
  }
  std::vector<Measured> measured;
  for (const device::Gpu& gpu : gpus.used()) {
    const auto handle = (*nvml)->FindDevice(gpu.pci_id);
    if (!handle.ok()) {
      LOG_WARNING << "There are no metrics of GPU " << gpu.ordinal << ": "
                  << handle.status().message();
      continue;
    }
    Measured& added = measured.emplace_back();
    added.name = "GPU " + std::to_string(gpu.ordinal);
    added.labels = telemetry::Labels(telemetry::Labels::Pairs{{"gpu_uuid", gpu.uuid}});
    added.device = *handle;
    added.readings = (*nvml)->Read(*handle);
    added.first_energy = added.readings.energy_joules.value_or(0);
  }
  return std::unique_ptr<GpuMetrics>(
      new GpuMetrics(registry, **nvml, std::move(measured), interval_ms, clock));
}

GpuMetrics::GpuMetrics(telemetry::Registry& registry, const device::Nvml& nvml,
                       std::vector<Measured> gpus, uint64_t interval_ms, const base::Clock& clock)
    : nvml_(nvml),
      interval_ns_(base::Duration::Milliseconds(interval_ms).ns()),
      clock_(clock),
      gpus_(std::move(gpus)),
      last_read_ns_(clock.NowNs()),
      collector_(registry, [this](MetricWriter& writer) { Collect(writer); }) {}

void GpuMetrics::Read() {
  for (Measured& gpu : gpus_) {
    gpu.readings = nvml_.Read(gpu.device);
    const bool failing = !gpu.readings.error.empty();
    if (failing && !gpu.failing) {
      LOG_WARNING << "Metrics of " << gpu.name << " are missing: " << gpu.readings.error;
    } else if (!failing && gpu.failing) {
      LOG_INFO << "Metrics of " << gpu.name << " are complete again";
    }
    gpu.failing = failing;
  }
}

void GpuMetrics::Collect(MetricWriter& writer) {
  const base::MutexLock lock(mutex_);
  const uint64_t now_ns = clock_.NowNs();
  if (now_ns - last_read_ns_ >= interval_ns_) {
    Read();
    last_read_ns_ = now_ns;
  }
  for (const Measured& gpu : gpus_) {
    WriteReadings(gpu.readings, gpu.labels, writer);
    if (!gpu.readings.energy_joules) continue;
    // A driver that was loaded anew counts from 0 again.
    writer
        .Family(MetricKind::kCounter, "nv_energy_consumption",
                "Energy that the GPU has consumed since the server started, in joules")
        .Sample(gpu.labels, std::max(0.0, *gpu.readings.energy_joules - gpu.first_energy));
  }
}

}  // namespace nereid::server
