// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/inference_service.h"
#include "api/refused_requests.h"
#include "server/server_health.h"
#include "server/server_phase.h"
#include "server/server_settings.h"
#include "server/shared_submission.h"
#include "telemetry/metrics.h"
#include "watchdog/watchdog.h"

namespace nereid::server {

class Collectors;
class ModelLoads;
class ModelResidency;
class ModelRollouts;
class ModelRuntime;
class RepositoryControl;
class SequenceHandover;

/// The server without its front ends: implements InferenceService over the model repositories.
/// Thread-safe, without a lock of its own: the parts are created by Create and do not change, the
/// phase is atomic, and requests read the repository's table of models as it is when they arrive.
///
/// The parts: ServerPhase (is new work accepted), ModelRuntime (the objects that models share),
/// RepositoryControl (loads and unloads), ModelRollouts (which version answers), ModelResidency
/// (which models are in memory, with a budget), Collectors (metrics), SharedSubmission (requests
/// with tensors in shared memory).
class InferenceServer final : public api::InferenceService {
 public:
  /// Creates the server and loads the start-up models. Returns when each is ready or has failed.
  /// With settings.exit_on_error a failed model is an error; otherwise the server starts and
  /// reports that it is not ready.
  static base::Result<std::unique_ptr<InferenceServer>> Create(ServerSettings settings);
  /// Stops the server. If models are still in use when the exit timeout has come, the objects that
  /// they use are leaked.
  ~InferenceServer() override;

  /// Refuses new work: no model is loaded, the server is not ready, and requests get UNAVAILABLE
  /// unless they continue a sequence. Plug-ins can still call models for requests in progress
  /// (InferInProcess).
  void BeginStop();
  /// Waits until nothing is in progress (no request, live sequence or load) or `deadline_ns`
  /// (monotonic) has come. Returns whether nothing is in progress. Logs each second what it waits
  /// for. Must be called after BeginStop.
  bool WaitUntilIdle(uint64_t deadline_ns) const;
  /// Refuses all new work, waits for requests in progress and unloads all models, until
  /// `deadline_ns` (monotonic) or, without one, for the exit timeout. Returns INTERNAL, naming what
  /// is still in use, when that time has come. Blocks. May be called again.
  base::Status Stop(std::optional<uint64_t> deadline_ns = std::nullopt);
  void SetExitTimeout(uint32_t seconds) { exit_timeout_secs_ = seconds; }

  RepositoryControl& repositories() { return *repositories_; }
  const ModelRuntime& runtime() const { return *runtime_; }
  /// Returns the metrics page; empty if metrics are off.
  std::string RenderMetrics(
      telemetry::Exposition exposition = telemetry::Exposition::kPrometheusText);

  base::Result<bool> IsServerLive() override;
  base::Result<bool> IsServerReady() override;
  base::Result<bool> IsModelReady(const std::string& name, int64_t version) override;
  api::ServerMetadata GetServerMetadata() override;
  base::Result<api::ModelMetadata> GetModelMetadata(const std::string& name,
                                                    int64_t version) override;
  base::Result<std::shared_ptr<const config::ModelConfig>> GetModelConfig(const std::string& name,
                                                                          int64_t version) override;
  base::Result<api::SequenceList> ListSequences(const std::string& name, int64_t version) override;
  base::Result<std::vector<api::ModelStatistics>> GetModelStatistics(const std::string& name,
                                                                     int64_t version) override;
  base::Result<std::vector<api::RepositoryIndexEntry>> GetRepositoryIndex(bool ready_only) override;
  base::Status LoadModel(const std::string& name, std::vector<api::LoadParameter> parameters,
                         const std::function<bool()>& is_abandoned) override;
  base::Status UnloadModel(const std::string& name, bool unload_dependents) override;
  base::Result<api::ModelTraits> FindModel(const std::string& name, int64_t version) override;
  base::Status Infer(std::unique_ptr<request::InferenceRequest>& request) override;
  base::Status InferInProcess(std::unique_ptr<request::InferenceRequest>& request) override;
  ServerHealth* health() override { return health_.get(); }

 private:
  explicit InferenceServer(ServerSettings settings);
  base::Status Start();
  /// Submits a request. From the phase `refused_from` on it is refused, unless it continues a
  /// sequence. With a budget for memory, the request may wait for its model first.
  base::Status Submit(std::unique_ptr<request::InferenceRequest>& request,
                      ServerPhase::Value refused_from);

  const ServerSettings settings_;
  std::atomic<uint32_t> exit_timeout_secs_;
  ServerPhase phase_;
  // Members are destroyed from last to first: the models before the runtime that they use. Null
  // until Start has created them.
  const std::shared_ptr<telemetry::Registry> metrics_;
  std::unique_ptr<ModelRuntime> runtime_;
  std::unique_ptr<ModelRollouts> rollouts_;
  std::unique_ptr<ModelResidency> residency_;  // null without a budget
  std::unique_ptr<RepositoryControl> repositories_;
  std::unique_ptr<ModelLoads> loads_;
  std::unique_ptr<watchdog::Watchdog> watchdog_;  // null without --watchdog-secs
  std::unique_ptr<ServerHealth> health_;
  std::unique_ptr<SequenceHandover> handover_;  // null if no peers are known
  api::RefusedRequests refused_;
  std::unique_ptr<Collectors> collectors_;  // null where metrics are off
  SharedSubmission shared_submission_{shared_memory()};
};

}  // namespace nereid::server
