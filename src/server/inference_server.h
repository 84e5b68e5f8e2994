// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/inference_service.h"
#include "base/clock.h"
#include "base/timer_queue.h"
#include "repository/model_poll.h"
#include "server/server_settings.h"
#include "telemetry/metrics.h"

namespace nereid::backend {
class BackendRegistry;
}
namespace nereid::cache {
class ResponseCache;
}
namespace nereid::model {
class CpuPlan;
struct CpuShare;
}  // namespace nereid::model
namespace nereid::schedule {
class ResourcePermits;
}
namespace nereid::server {

class Collectors;
class RepositoryPoller;
struct RepositoryParts;

/// A backend's line in the start-up table.
struct BackendSummary {
  std::string name;
  std::string path;
  std::string config_json;
};

/// The server without its front ends: implements InferenceService over a model repository.
/// Thread-safe.
class InferenceServer final : public api::InferenceService {
 public:
  /// Creates the server and loads the start-up models. Returns when each is ready or has failed.
  /// With settings.exit_on_error a failed model is an error; otherwise the server starts and
  /// reports that it is not ready.
  static base::Result<std::unique_ptr<InferenceServer>> Create(ServerSettings settings);
  ~InferenceServer() override;

  /// Refuses new work: no model is loaded, the server is not ready, and requests get UNAVAILABLE
  /// unless they continue a sequence. Plug-ins can still call models for requests in progress
  /// (InferInProcess).
  void BeginStop();
  /// Waits until nothing is in progress (no request, live sequence or load) or `deadline_ns`
  /// (monotonic) has come. Returns whether nothing is in progress. Logs each second what it waits
  /// for. Must be called after BeginStop.
  bool WaitUntilIdle(uint64_t deadline_ns) const;
  /// Refuses all new work, waits for requests in progress and unloads all models. Returns INTERNAL,
  /// naming what is still in use, when the exit timeout or `deadline_ns` has come. Blocks.
  base::Status Stop();
  base::Status StopBy(uint64_t deadline_ns);
  void SetExitTimeout(uint32_t seconds) { exit_timeout_secs_ = seconds; }

  /// Polls the repositories now: loads, reloads and unloads models, and returns when that is done.
  /// Failed models are logged. Returns UNAVAILABLE "polling is disabled" in a mode other than POLL.
  base::Status PollRepositories();

  /// Adds or removes a repository; see repository::ModelLifecycle. Return UNSUPPORTED unless the
  /// model control mode is EXPLICIT.
  base::Status RegisterRepository(const std::string& path, const repository::NameMapping& mapping);
  base::Status UnregisterRepository(const std::string& path);

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

  /// Returns the metrics page in Prometheus' text format; empty if metrics are off.
  std::string RenderMetrics();
  telemetry::Registry& metrics() { return *metrics_; }
  const ServerSettings& settings() const { return settings_; }
  std::vector<BackendSummary> Backends();
  /// Returns how the loaded models share the CPUs; empty without a plan.
  std::vector<model::CpuShare> CpuShares();

 private:
  /// The order matters: from kEnding on new work of clients is refused, in kStopping that of
  /// plug-ins too. kFailed and kServing alternate (Fail, Recover); the later phases are final.
  enum class Phase { kServing, kFailed, kEnding, kStopping };

  explicit InferenceServer(ServerSettings settings);
  base::Status Start();
  base::Status OpenResponseCache();
  base::Status LoadStartupModels();
  base::Status StartPolling();
  void ExpectModels();
  /// Returns INTERNAL, with Triton's text, if a repository cannot be read.
  base::Status CheckRepositories() const;
  bool IsStopping() const { return phase_.load(std::memory_order_acquire) >= Phase::kEnding; }
  /// Returns whether a stop may have unloaded models: a model that is not found may have existed
  /// before.
  bool HasStopped() const { return phase_.load(std::memory_order_acquire) == Phase::kStopping; }
  /// Returns UNAVAILABLE "Server not ready" unless the server is in phase kServing.
  base::Status CheckServing() const;
  /// Makes the server not ready because its repositories cannot be read; Recover() reverses it. The
  /// server keeps running to report that.
  void Fail(const base::Status& reason);
  void Recover();
  base::Status Submit(std::unique_ptr<request::InferenceRequest>& request, Phase refused_from);
  /// Returns UNAVAILABLE unless the model control mode is EXPLICIT.
  base::Status CheckExplicitControl() const;

  const ServerSettings settings_;
  std::atomic<uint32_t> exit_timeout_secs_;
  std::atomic<Phase> phase_{Phase::kServing};
  // Members are destroyed from last to first: models before the backends and timers that they use.
  std::shared_ptr<telemetry::Registry> metrics_;
  std::unique_ptr<base::ThreadTimerQueue> timers_;
  std::unique_ptr<model::CpuPlan> cpu_plan_;            // null if the plan is off
  std::unique_ptr<schedule::ResourcePermits> permits_;  // null if the rate limiter is off
  std::unique_ptr<backend::BackendRegistry> backends_;
  std::unique_ptr<cache::ResponseCache> response_cache_;  // null without --cache-config
  std::unique_ptr<RepositoryParts> repository_;  // the lifecycle and the objects that it uses
  std::unique_ptr<RepositoryPoller> poller_;
  std::unique_ptr<Collectors> collectors_;  // null where metrics are off
};

}  // namespace nereid::server
