// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "device/gpus.h"
#include "memory/gpu/memory_pool.h"
#include "telemetry/metric_writer.h"

namespace nereid::server {

/// Writes the sizes of the memory pools on GPUs, with the label gpu_uuid; nothing if no pool was
/// used.
void WriteGpuPoolMetrics(const std::map<int, memory::PoolUse>& uses, const device::Gpus& gpus,
                         telemetry::MetricWriter& writer);

}  // namespace nereid::server
