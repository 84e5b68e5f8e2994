// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/health.h"
#include "repository/model_table.h"
#include "repository/requests/load_board.h"
#include "server/server_phase.h"
#include "watchdog/stall_judge.h"

namespace nereid::server {

/// What decides whether a server is ready, beside its models.
struct PhaseView {
  ServerPhase::Value phase = ServerPhase::Value::kServing;
  std::string failure = {};  // why, in kFailed
  bool draining = false;
};

/// Returns whether the server is ready, and each reason why not. `models` is null if models do not
/// count (--strict-readiness=false). `records` tells why a model has no version.
api::Readiness ExplainServerReadiness(const PhaseView& view, const repository::ModelTable* models,
                                      const repository::LoadBoard::Records& records);

/// Returns whether a version of a model (-1: the one that a request without a version gets) is
/// ready, and each reason why not. A drain is none: the model still serves.
api::Readiness ExplainModelReadiness(const PhaseView& view, const repository::ModelTable& models,
                                     const std::string& name, int64_t version);

/// Adds a note for each model of `records` that serves although its last load has failed. `name` is
/// the only model that counts; empty: all count.
void AddFailedReloads(const repository::LoadBoard::Records& records,
                      const repository::ModelTable& models, const std::string& name,
                      api::Readiness* readiness);

/// Returns whether the server is live, and what was found. `watchdog_decides`: a stuck stage makes
/// the answer no.
api::Liveness ExplainLiveness(const PhaseView& view, const std::vector<watchdog::Finding>& findings,
                              bool watchdog_decides);

}  // namespace nereid::server
