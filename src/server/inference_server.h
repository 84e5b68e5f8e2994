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

class RepositoryPoller;

/// What the start-up table says of a backend.
struct BackendSummary {
  std::string name;
  std::string path;
  std::string config_json;
};

/// The server without its front ends: the InferenceService over a model repository. Thread-safe.
class InferenceServer final : public api::InferenceService {
 public:
  /// Loads the start-up models and returns when they are ready or have failed. With
  /// settings.exit_on_error a failed model is a failure here; without, the server lives and its
  /// readiness says so.
  static base::Result<std::unique_ptr<InferenceServer>> Create(ServerSettings settings);
  ~InferenceServer() override;

  /// Refuses new work from now on: no model is loaded, the server is not ready, requests get
  /// UNAVAILABLE unless they continue a sequence. Plug-ins may go on calling models, on behalf of
  /// what is in flight (InferInProcess).
  void BeginStop();
  /// Waits until nothing is in flight any more: no request, no live sequence, no load; at most
  /// until `deadline_ns`, whether it is so then. Tells the log what it waits for. After BeginStop.
  bool WaitUntilIdle(uint64_t deadline_ns);
  /// Refuses all new work, waits for what is in flight, unloads all models. INTERNAL with what is
  /// still there when the exit timeout, or `deadline_ns`, is over. Blocks.
  base::Status Stop();
  base::Status StopBy(uint64_t deadline_ns);
  void SetExitTimeout(uint32_t seconds) { exit_timeout_secs_ = seconds; }

  /// Looks for changes in the repositories now: loads, reloads and unloads, and returns when that
  /// is done. Models that fail are logged. UNAVAILABLE "polling is disabled" in another mode.
  base::Status PollRepositories();

  /// One repository more, or less; see repository::ModelLifecycle. UNSUPPORTED unless models are
  /// loaded by name.
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

  /// The metrics page in Prometheus' text format; empty when metrics are off.
  std::string RenderMetrics();
  telemetry::Registry& metrics() { return *metrics_; }
  const ServerSettings& settings() const { return settings_; }
  std::vector<BackendSummary> Backends();
  /// How the loaded models share the CPUs; empty without a plan.
  std::vector<model::CpuShare> CpuShares();

 private:
  /// In this order; the last two refuse new work, the last one also that of plug-ins.
  enum class Phase { kServing, kFailed, kEnding, kStopping };

  explicit InferenceServer(ServerSettings settings);
  base::Status Start();
  base::Status OpenResponseCache();
  base::Status LoadStartupModels();
  base::Status StartPolling();
  void ExpectModels();
  /// INTERNAL, as Triton says it, for a repository that cannot be read.
  base::Status CheckRepositories() const;
  void StartCollectors();
  /// What a stop waits for, in words; "" for nothing.
  std::string DescribePending() const;
  bool IsStopping() const { return phase_.load(std::memory_order_acquire) >= Phase::kEnding; }
  /// True once a stop may have unloaded models: a model that is not found may have been there.
  bool HasStopped() const { return phase_.load(std::memory_order_acquire) == Phase::kStopping; }
  /// UNAVAILABLE "Server not ready" unless it serves.
  base::Status CheckServing() const;
  /// Stops serving, though not answering, for want of its repositories, until Recover().
  void Fail(const base::Status& reason);
  void Recover();
  base::Status Submit(std::unique_ptr<request::InferenceRequest>& request, Phase refused_from);
  /// INVALID_ARGUMENT unless loading and unloading by name is allowed.
  base::Status CheckExplicitControl() const;

  const ServerSettings settings_;
  std::atomic<uint32_t> exit_timeout_secs_;
  std::atomic<Phase> phase_{Phase::kServing};
  // Destroyed from the last to the first: models go before the backends and the timers they use.
  std::shared_ptr<telemetry::Registry> metrics_;
  std::unique_ptr<base::ThreadTimerQueue> timers_;
  std::unique_ptr<model::CpuPlan> cpu_plan_;            // null where it is off
  std::unique_ptr<schedule::ResourcePermits> permits_;  // null where the rate limiter is off
  std::unique_ptr<backend::BackendRegistry> backends_;
  std::unique_ptr<cache::ResponseCache> response_cache_;  // null without --cache-config
  struct Repository;                                      // the lifecycle and what it is wired to
  std::unique_ptr<Repository> repository_;
  std::unique_ptr<RepositoryPoller> poller_;
  struct Collectors;
  std::unique_ptr<Collectors> collectors_;
};

/// The version that the server reports; Triton's, whose behaviour clients may ask for by number.
std::string_view ServerVersion();

/// The extensions of the protocol that the server reports.
std::vector<std::string> ServerExtensions();

}  // namespace nereid::server
