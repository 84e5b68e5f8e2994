// SPDX-License-Identifier: Apache-2.0
#include "server/gpu_pool_metrics.h"

#include <string>

namespace nereid::server {

void WriteGpuPoolMetrics(const std::map<int, memory::PoolUse>& uses, const device::Gpus& gpus,
                         telemetry::MetricWriter& writer) {
  using telemetry::MetricKind;
  for (const auto& [ordinal, use] : uses) {
    // A client's shared memory may be on a GPU that models do not use.
    const device::Gpu* const gpu = gpus.ByOrdinal(ordinal);
    const telemetry::Labels labels{
        {"gpu_uuid", gpu == nullptr ? std::to_string(ordinal) : gpu->uuid}};
    writer
        .Family(MetricKind::kGauge, "nereid_cuda_memory_pool_total_bytes",
                "Size of the server's memory pool on the GPU, in bytes")
        .Sample(labels, use.total_bytes);
    writer
        .Family(MetricKind::kGauge, "nereid_cuda_memory_pool_used_bytes",
                "Used bytes of the server's memory pool on the GPU")
        .Sample(labels, use.used_bytes);
  }
}

}  // namespace nereid::server
