// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "telemetry/model_statistics.h"

namespace nereid::api {

// The statistics extension returns telemetry's structures.
using telemetry::BatchStatistics;
using telemetry::InferStatistics;
using telemetry::MemoryUsage;
using telemetry::ModelStatistics;
using telemetry::ResponseStatistics;
using telemetry::SequenceInfo;
using telemetry::SequenceList;
using telemetry::StatisticDuration;

}  // namespace nereid::api
