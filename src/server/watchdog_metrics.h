// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "telemetry/metric_writer.h"
#include "watchdog/watchdog.h"

namespace nereid::server {

/// Writes what the watchdog has done and found, for each kind of stage.
void WriteWatchdogMetrics(const watchdog::Watchdog::Counts& counts,
                          const std::vector<watchdog::Finding>& findings,
                          telemetry::MetricWriter& writer);

}  // namespace nereid::server
