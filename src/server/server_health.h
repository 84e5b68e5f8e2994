// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/health.h"
#include "base/clock.h"
#include "repository/model_lifecycle.h"
#include "request/inference_request.h"
#include "server/drain.h"
#include "server/readiness.h"
#include "server/server_phase.h"
#include "watchdog/watchdog.h"

namespace nereid::server {

class ModelResidency;

/// The health of one server and its drain. Thread-safe.
class ServerHealth final : public api::Health {
 public:
  struct Options {
    bool strict = true;  // whether models that are not ready count
    /// Null: nobody watches.
    const watchdog::Watchdog* watchdog = nullptr;
    bool watchdog_decides = false;  // whether a server with a stuck stage is not live
    /// Null: every model that serves is in memory.
    const ModelResidency* residency = nullptr;
  };
  /// The arguments must outlive this object.
  ServerHealth(ServerPhase& phase, const repository::ModelLifecycle& lifecycle, Options options,
               const base::Clock& clock = base::SteadyClock())
      : phase_(phase), lifecycle_(lifecycle), options_(options), clock_(clock) {}

  api::Readiness ExplainServer() override;
  api::Readiness ExplainModel(const std::string& name, int64_t version) override;
  api::Liveness ExplainLiveness() override;
  api::DrainReport Drain() override;
  base::Result<api::DrainReport> ChangeDrain(const api::DrainChange& change) override;

  /// Begins the drain before a stop, which nothing ends.
  void DrainForStop() { drain_.BeginFinal(); }
  /// Returns whether the server is not live because a stage is stuck.
  bool IsStuck() const { return options_.watchdog_decides && options_.watchdog->HasFatal(); }
  bool IsDraining() const { return drain_.IsActive(clock_.NowNs()); }

 private:
  PhaseView View() const;

  ServerPhase& phase_;
  const repository::ModelLifecycle& lifecycle_;
  const Options options_;
  const base::Clock& clock_;
  server::Drain drain_;
};

/// Returns UNAVAILABLE, which says that the server drains.
base::Status DrainingStatus(const request::InferenceRequest& request);

}  // namespace nereid::server
