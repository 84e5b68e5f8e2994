// SPDX-License-Identifier: Apache-2.0
#include "server/mirror_metrics.h"

namespace nereid::server {

using telemetry::MetricKind;

void WriteMirrorMetrics(const repository::mirror::ModelMirror& mirror,
                        telemetry::MetricWriter& writer) {
  const repository::mirror::ModelMirror::Counts counts = mirror.counts();
  writer
      .Family(MetricKind::kGauge, "nereid_model_cache_bytes",
              "Bytes of the files of remote models in the model cache")
      .Sample({}, mirror.cache_bytes());
  writer
      .Family(MetricKind::kCounter, "nereid_model_cache_hits_total",
              "Files of remote models that were taken from the model cache")
      .Sample({}, counts.cache_hits);
  writer
      .Family(MetricKind::kCounter, "nereid_model_download_bytes_total",
              "Bytes of models that were downloaded from object stores")
      .Sample({}, counts.bytes_downloaded);
  writer
      .Family(MetricKind::kCounter, "nereid_model_download_retries_total",
              "Repeated requests to object stores")
      .Sample({}, counts.retries);
}

}  // namespace nereid::server
