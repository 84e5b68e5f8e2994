// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rollout/rollout_status.h"
#include "telemetry/metric_writer.h"

namespace nereid::server {

/// Writes the nereid_rollout_* families of one rollout.
void WriteRolloutMetrics(const rollout::RolloutStatus& status, telemetry::MetricWriter& writer);

}  // namespace nereid::server
