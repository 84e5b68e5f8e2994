// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/refused_requests.h"
#include "telemetry/metric_writer.h"

namespace nereid::server {

/// Writes how many requests the front ends have refused before they were in a queue.
void WriteRefusedMetrics(const api::RefusedRequests& refused, telemetry::MetricWriter& writer);

}  // namespace nereid::server
