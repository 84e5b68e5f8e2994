// SPDX-License-Identifier: Apache-2.0
#include "server/rollout_metrics.h"

#include <string>

namespace nereid::server {
namespace {

using telemetry::Labels;
using telemetry::MetricKind;

Labels VersionLabels(const std::string& model, int64_t version) {
  return Labels({{"model", model}, {"version", std::to_string(version)}});
}

void WriteVersions(const rollout::RolloutStatus& status, telemetry::MetricWriter& writer) {
  auto& requests = writer.Family(MetricKind::kCounter, "nereid_rollout_requests_total",
                                 "Requests that have ended, of a version in a rollout");
  auto& failures = writer.Family(MetricKind::kCounter, "nereid_rollout_failures_total",
                                 "Requests that have failed, of a version in a rollout");
  auto& weights =
      writer.Family(MetricKind::kGauge, "nereid_rollout_weight",
                    "Share of the requests without a version that a version gets [0.0 - 1.0]");
  for (const rollout::VersionStatus& version : status.versions) {
    const Labels labels = VersionLabels(status.model, version.version);
    requests.Sample(labels, version.requests);
    failures.Sample(labels, version.failures);
    weights.Sample(labels, static_cast<double>(version.parts) / rollout::kParts);
  }
}

void WriteShadow(const rollout::RolloutStatus& status, telemetry::MetricWriter& writer) {
  if (!status.plan.shadow) return;
  auto& copies = writer.Family(MetricKind::kCounter, "nereid_rollout_shadow_total",
                               "Copies of requests for the shadow version, by result");
  const telemetry::LabelSeries by_result(
      VersionLabels(status.model, status.plan.shadow->target.version), "result");
  copies.Sample(by_result, "equal", status.shadow.equal);
  copies.Sample(by_result, "different", status.shadow.different);
  copies.Sample(by_result, "failed", status.shadow.failed);
  copies.Sample(by_result, "dropped", status.shadow.dropped);
}

}  // namespace

void WriteRolloutMetrics(const rollout::RolloutStatus& status, telemetry::MetricWriter& writer) {
  WriteVersions(status, writer);
  WriteShadow(status, writer);
  writer
      .Family(MetricKind::kCounter, "nereid_rollout_rollbacks_total",
              "Rollbacks of a model's versions")
      .Sample(Labels({{"model", status.model}}), status.rollbacks);
}

}  // namespace nereid::server
