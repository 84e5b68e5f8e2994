// SPDX-License-Identifier: Apache-2.0
#include "server/readiness.h"

#include <utility>

#include "watchdog/watchdog.h"

namespace nereid::server {

using api::Readiness;
using base::Status;
using repository::VersionRecord;
using repository::VersionState;

namespace {

/// Adds the reason that the phase is. Returns whether it is one.
bool AddPhase(const PhaseView& view, Readiness* readiness) {
  switch (view.phase) {
    case ServerPhase::Value::kServing:
      return false;
    case ServerPhase::Value::kFailed:
      api::AddReason({.cause = "failed", .text = view.failure}, readiness);
      return true;
    case ServerPhase::Value::kEnding:
      api::AddReason(
          {.cause = "ending",
           .text = "the server stops: it refuses new work and finishes the work in flight"},
          readiness);
      return true;
    case ServerPhase::Value::kStopping:
      api::AddReason({.cause = "exiting", .text = "the server stops: it unloads its models"},
                     readiness);
      return true;
  }
  return false;
}

api::UnreadyReason ReasonOf(const repository::ModelId& id, int64_t version,
                            const VersionRecord& record) {
  return {.cause = "model",
          .model = ToText(id),
          .version = std::to_string(version),
          .state = std::string(VersionStateText(record.state())),
          .text = record.reason()};
}

api::UnreadyReason BackendReason(std::string model, int64_t version, const Status& status) {
  return {.cause = "backend",
          .model = std::move(model),
          .version = version < 0 ? std::string() : std::to_string(version),
          .state = std::string(VersionStateText(VersionState::kReady)),
          .text = status.message()};
}

/// Adds the versions of a model that do not serve: all of them, or the one that was asked for.
void AddVersions(const repository::ModelTable& models, const std::string& name, int64_t version,
                 Readiness* readiness) {
  const auto id = models.Resolve(name);
  const auto* const records = id.ok() ? models.FindVersions(*id) : nullptr;
  if (records == nullptr) return;
  for (const auto& [number, record] : *records) {
    const bool asked = version < 0 || number == version;
    if (asked && record.state() != VersionState::kReady) {
      api::AddReason(ReasonOf(*id, number, record), readiness);
    }
  }
}

std::string WhyNoVersion(const repository::ModelId& id,
                         const repository::LoadBoard::Records& records) {
  const auto found = records.find(id);
  const bool has_failed = found != records.end() && found->second.HasFailed();
  return has_failed ? found->second.last->reason : "it has no version";
}

api::LivenessFinding FindingOf(const watchdog::Finding& finding) {
  const bool stuck = finding.kind == watchdog::Finding::Kind::kStuck;
  return {.cause = stuck ? "stuck" : "executing",
          .stage = base::StageKindName(finding.facts.kind),
          .name = finding.facts.name,
          .seconds = finding.age_ns / 1'000'000'000,
          .text = Describe(finding)};
}

}  // namespace

Readiness ExplainServerReadiness(const PhaseView& view, const repository::ModelTable* models,
                                 const repository::LoadBoard::Records& records) {
  Readiness readiness;
  if (view.phase >= ServerPhase::Value::kEnding) {
    readiness.status = Status::Unavailable("Server exiting");
  }
  AddPhase(view, &readiness);
  if (view.draining) {
    api::AddReason({.cause = "draining",
                    .text = "the server drains: it begins no new sequences, and serves everything "
                            "else"},
                   &readiness);
  }
  if (models == nullptr) return readiness;
  models->VisitUnready([&](const repository::UnreadyVersion& unready) {
    if (unready.record == nullptr) {
      api::AddReason({.cause = "model",
                      .model = ToText(unready.id),
                      .text = WhyNoVersion(unready.id, records)},
                     &readiness);
    } else if (unready.record->state() == VersionState::kReady) {
      api::AddReason(BackendReason(ToText(unready.id), unready.version, unready.status),
                     &readiness);
    } else {
      api::AddReason(ReasonOf(unready.id, unready.version, *unready.record), &readiness);
    }
    return true;
  });
  return readiness;
}

void AddFailedReloads(const repository::LoadBoard::Records& records,
                      const repository::ModelTable& models, const std::string& name,
                      api::Readiness* readiness) {
  for (const auto& [id, record] : records) {
    if (!record.HasFailed() || (!name.empty() && id.name != name)) continue;
    if (!repository::HasReadyVersion(models.FindVersions(id))) continue;
    api::AddNote({.cause = "reload", .model = ToText(id), .text = record.last->status.message()},
                 readiness);
  }
}

api::Liveness ExplainLiveness(const PhaseView& view, const std::vector<watchdog::Finding>& findings,
                              bool watchdog_decides) {
  api::Liveness liveness;
  if (view.phase == ServerPhase::Value::kFailed) {
    liveness.live = false;
    liveness.findings.push_back({.cause = "failed", .text = view.failure});
  } else if (view.phase == ServerPhase::Value::kStopping) {
    liveness.live = false;
    liveness.findings.push_back(
        {.cause = "exiting", .text = "the server stops: it unloads its models"});
  }
  for (const watchdog::Finding& finding : findings) {
    if (watchdog_decides && finding.IsFatal()) liveness.live = false;
    if (liveness.findings.size() < api::kMaxHealthReasons) {
      liveness.findings.push_back(FindingOf(finding));
    } else {
      ++liveness.omitted;
    }
  }
  return liveness;
}

Readiness ExplainModelReadiness(const PhaseView& view, const repository::ModelTable& models,
                                const std::string& name, int64_t version) {
  Readiness readiness;
  if (AddPhase(view, &readiness)) {
    readiness.status = Status::Unavailable("Server not ready");
    return readiness;
  }
  const auto found = models.Find(name, version);
  if (found.ok()) {
    const Status status = (*found)->CheckReady();
    if (!status.ok()) api::AddReason(BackendReason(name, version, status), &readiness);
    return readiness;
  }
  AddVersions(models, name, version, &readiness);
  if (readiness.ready) {
    api::AddReason({.cause = "model", .model = name, .text = found.status().message()}, &readiness);
  }
  return readiness;
}

}  // namespace nereid::server
