// SPDX-License-Identifier: Apache-2.0
#include "server/watchdog_metrics.h"

#include <algorithm>

namespace nereid::server {

using telemetry::MetricKind;
using watchdog::Finding;

void WriteWatchdogMetrics(const watchdog::Watchdog::Counts& counts,
                          const std::vector<Finding>& findings, telemetry::MetricWriter& writer) {
  writer
      .Family(MetricKind::kCounter, "nereid_watchdog_rounds_total",
              "Rounds in which the watchdog asked the stages of the server whether they move")
      .Sample({}, counts.rounds);
  for (size_t i = 0; i < counts.alarms.size(); ++i) {
    const auto kind = static_cast<base::StageKind>(i);
    const telemetry::Labels labels{{"stage", base::StageKindName(kind)}};
    const auto stuck =
        std::count_if(findings.begin(), findings.end(), [kind](const Finding& finding) {
          return finding.kind == Finding::Kind::kStuck && finding.facts.kind == kind;
        });
    writer
        .Family(MetricKind::kGauge, "nereid_watchdog_stuck_stages",
                "Stages of the server that do not begin the work that waits for them")
        .Sample(labels, static_cast<uint64_t>(stuck));
    writer
        .Family(MetricKind::kCounter, "nereid_watchdog_alarms_total",
                "Stages of the server that got stuck")
        .Sample(labels, counts.alarms[i]);
  }
}

}  // namespace nereid::server
