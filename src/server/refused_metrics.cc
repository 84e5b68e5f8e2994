// SPDX-License-Identifier: Apache-2.0
#include "server/refused_metrics.h"

#include <map>
#include <string>
#include <tuple>

namespace nereid::server {

void WriteRefusedMetrics(const api::RefusedRequests& refused, telemetry::MetricWriter& writer) {
  std::map<std::tuple<std::string_view, int, std::string_view>, uint64_t> sums;
  refused.Visit([&](const api::RefusedRequests::Series& series) {
    sums[{series.front_end, series.status, series.reason}] += series.count;
  });
  auto& family = writer.Family(telemetry::MetricKind::kCounter, "nereid_requests_refused_total",
                               "Inference requests that were refused before they were queued, by "
                               "the status of the answer and the reason");
  for (const auto& [labels, count] : sums) {
    const auto& [front_end, status, reason] = labels;
    family.Sample({{"frontend", std::string(front_end)},
                   {"reason", std::string(reason)},
                   {"status", std::to_string(status)}},
                  count);
  }
}

}  // namespace nereid::server
