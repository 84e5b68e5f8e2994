// SPDX-License-Identifier: Apache-2.0
#include "server/gpu_pool_metrics.h"

#include <string>

namespace nereid::server {

void WriteGpuPoolMetrics(const std::map<int, memory::PoolUse>& uses,
                         telemetry::MetricWriter& writer) {
  using telemetry::MetricKind;
  for (const auto& [gpu, use] : uses) {
    const telemetry::Labels labels{{"gpu", std::to_string(gpu)}};
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
