// SPDX-License-Identifier: Apache-2.0
#include "server/server_health.h"

#include "base/duration.h"
#include "base/log.h"
#include "server/residency/resident_answers.h"

namespace nereid::server {

using base::Status;

PhaseView ServerHealth::View() const {
  return {.phase = phase_.Get(), .failure = phase_.failure(), .draining = IsDraining()};
}

api::Readiness ServerHealth::ExplainServer() {
  const auto table = lifecycle_.Table();
  const auto records = lifecycle_.board().List();
  auto readiness = ExplainServerReadiness(View(), options_.strict ? table.get() : nullptr, records);
  AddFailedReloads(records, *table, "", &readiness);
  return readiness;
}

api::Readiness ServerHealth::ExplainModel(const std::string& name, int64_t version) {
  const auto table = lifecycle_.Table();
  auto readiness = ExplainModelReadiness(View(), *table, name, version);
  const bool may_be_absent = options_.residency != nullptr && phase_.CheckServing().ok();
  if (!readiness.ready && may_be_absent && !table->Find(name, version).ok() &&
      CanLoad(*options_.residency, *table, name, version)) {
    readiness = api::Readiness();
  }
  AddFailedReloads(lifecycle_.board().Find(name), *table, name, &readiness);
  return readiness;
}

api::Liveness ServerHealth::ExplainLiveness() {
  std::vector<watchdog::Finding> findings;
  if (options_.watchdog != nullptr) findings = options_.watchdog->Findings();
  return server::ExplainLiveness(View(), findings, options_.watchdog_decides);
}

api::DrainReport ServerHealth::Drain() {
  const uint64_t now_ns = clock_.NowNs();
  api::DrainReport report;
  report.draining = drain_.IsActive(now_ns);
  report.left_ns = drain_.LeftNs(now_ns);
  for (const repository::BoundVersion& bound : lifecycle_.BoundVersions()) {
    if (bound.leaving) continue;  // it is being unloaded, which no drain waits for
    report.in_flight += bound.requests;
    if (report.busy.size() < api::kMaxHealthReasons) {
      report.busy.push_back({ToText(bound.id), std::to_string(bound.version), bound.requests});
    } else {
      ++report.omitted;
    }
  }
  return report;
}

base::Result<api::DrainReport> ServerHealth::ChangeDrain(const api::DrainChange& change) {
  if (phase_.IsEnding() || drain_.IsFinal()) return Status::Unavailable("Server exiting");
  if (!change.drain) {
    drain_.End();
    LOG_INFO << "The drain has ended: the server is ready again when its models are";
    return Drain();
  }
  const uint64_t until_ns = change.seconds
                                ? base::Duration::Seconds(*change.seconds).After(clock_.NowNs())
                                : server::Drain::kForever;
  drain_.Begin(until_ns);
  LOG_INFO << "The server drains"
           << (change.seconds ? " for " + std::to_string(*change.seconds) + " seconds"
                              : std::string())
           << ": it is not ready and begins no new sequences";
  return Drain();
}

Status DrainingStatus(const request::InferenceRequest& request) {
  return Status::Unavailable(request.LogPrefix() +
                             "the server drains and begins no new sequences. Send the sequence to "
                             "another server.");
}

}  // namespace nereid::server
