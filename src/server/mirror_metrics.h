// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "repository/mirror/model_mirror.h"
#include "telemetry/metric_writer.h"

namespace nereid::server {

/// Writes the metrics of the downloads from object stores and of the model cache.
void WriteMirrorMetrics(const repository::mirror::ModelMirror& mirror,
                        telemetry::MetricWriter& writer);

}  // namespace nereid::server
