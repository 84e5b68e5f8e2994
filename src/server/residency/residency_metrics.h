// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "server/residency/residency_driver.h"
#include "telemetry/metrics.h"

namespace nereid::server {

/// Writes the nereid_model_memory_* families. `hits` is the number of requests that found their
/// model in memory.
void WriteResidencyMetrics(const ResidencyNumbers& numbers, uint64_t hits,
                           const std::map<std::string, uint64_t>& bytes_by_model,
                           telemetry::MetricWriter& writer);

}  // namespace nereid::server
