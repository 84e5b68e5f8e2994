// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/refused_requests.h"
#include "device/gpus.h"
#include "repository/model_lifecycle.h"
#include "repository/remote_storage.h"
#include "server/server_settings.h"
#include "telemetry/metrics.h"
#include "telemetry/process_metrics.h"
#include "watchdog/watchdog.h"

namespace nereid::server {

class GpuMetrics;
class ModelResidency;
class ModelRollouts;

/// The metrics that are computed at each scrape: those of the process, the GPUs, the models, the
/// rollouts and the refused requests.
class Collectors {
 public:
  /// The arguments must outlive this object. `residency` and `watchdog` may be null.
  Collectors(const ServerSettings& settings, telemetry::Registry& metrics, const device::Gpus& gpus,
             const repository::ModelLifecycle& lifecycle, const repository::RemoteStorage& remote,
             const ModelRollouts& rollouts, ModelResidency* residency,
             const watchdog::Watchdog* watchdog, const api::RefusedRequests& refused);
  ~Collectors();

 private:
  std::unique_ptr<telemetry::ProcessMetrics> process_;
  std::unique_ptr<GpuMetrics> gpus_;  // null without GPUs, or without their metrics
  std::unique_ptr<telemetry::ScopedCollector> gpu_pools_;
  std::unique_ptr<telemetry::ScopedCollector> models_;
  std::unique_ptr<telemetry::ScopedCollector> loads_;
  std::unique_ptr<telemetry::ScopedCollector> watchdog_;  // null without a watchdog
  std::unique_ptr<telemetry::ScopedCollector> mirror_;
  std::unique_ptr<telemetry::ScopedCollector> rollouts_;
  std::unique_ptr<telemetry::ScopedCollector> refused_;
  std::unique_ptr<telemetry::ScopedCollector> residency_;  // null without a budget
};

}  // namespace nereid::server
