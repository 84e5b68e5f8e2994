// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/backend_model.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/timer_queue.h"
#include "cache/model_cache.h"
#include "config/model_config.h"
#include "device/gpus.h"
#include "model/background_tasks.h"
#include "model/cache_statistics.h"
#include "model/cpu_plan.h"
#include "model/first_response.h"
#include "model/gpu_load_limits.h"
#include "model/instance_set.h"
#include "model/model_version.h"
#include "model/scheduler_statistics.h"
#include "request/model_identity.h"
#include "request/sequence_inputs.h"
#include "schedule/adaptive/latency_objective.h"
#include "schedule/dynamic/batch_strategy.h"
#include "schedule/inline_policy.h"
#include "schedule/scheduler.h"
#include "telemetry/model_statistics.h"

namespace nereid::model {

/// What all models of a server share. The references must outlive the models.
struct ModelEnvironment {
  backend::BackendRegistry& backends;
  const base::Clock& clock;
  base::TimerQueue& timers;
  bool auto_complete = true;
  schedule::InlineMode inline_mode = schedule::InlineMode::kAuto;
  uint32_t execution_watchdog_secs = 0;  // 0: off; a model's own parameter overrides it
  HostPolicies host_policies = {};
  /// The GPUs of the server; null if it uses none.
  const device::Gpus* gpus = nullptr;
  GpuLoadLimits gpu_load_limits = {};
  /// The rate limiter; null if it is off.
  schedule::ResourcePermits* permits = nullptr;
  /// The CPU plan; null if every framework chooses its own number of threads.
  CpuPlan* cpu_plan = nullptr;
  TRITONSERVER_Server* c_server = nullptr;
  cache::ResponseCache* response_cache = nullptr;  // null: the server has none
  bool histogram_latencies = false;  // whether models keep histograms of first responses
  bool summary_latencies = false;    // whether models keep summaries of latencies
};

/// The files and the configuration of a model version.
struct ModelSource {
  std::string name;
  int64_t version = 0;
  std::string directory;          // the model's
  std::string version_directory;  // may not exist for models without files
  config::ModelConfigPtr config;  // completed from the files, normalized, validated
  bool configured = true;         // false: neither a config.pbtxt nor an override exists
  std::function<void()> on_warm_up = nullptr;  // called when the warm-up begins; may be null
};

/// A loaded version with a backend: configuration, backend, instances, scheduler, statistics. Must
/// not be destroyed on a thread of one of its own instances.
class Model final : public ModelVersion {
 public:
  /// Loads the version: opens the backend, lets it complete the configuration, creates the
  /// instances and runs their warm-up. Blocks as long as the framework takes.
  static base::Result<std::unique_ptr<Model>> Create(const ModelEnvironment& environment,
                                                     const ModelSource& source);
  ~Model() override;

  const request::ModelIdentity& identity() const override { return *identity_; }
  base::Result<InstanceUpdate> PrepareUpdate(const config::ModelConfig& wanted) override;
  void ApplyUpdate(InstanceUpdate update) override;

  base::Status Enqueue(std::unique_ptr<request::InferenceRequest>& request) override {
    if (first_responses_ != nullptr) first_responses_->Watch(*request);
    return response_cache_ != nullptr ? response_cache_->Enqueue(request, *scheduler_)
                                      : scheduler_->Enqueue(request);
  }
  void EndIdleSequences() override { scheduler_->EndIdleSequences(); }
  bool HasSequence(const request::CorrelationId& id) const override {
    return scheduler_->HasSequence(id);
  }
  telemetry::SequenceList ListSequences(size_t most) const override {
    return scheduler_->ListSequences(most);
  }

  /// Returns an error if the backend reports an instance as not ready, or an execution is stuck.
  base::Status CheckReady() override;

  telemetry::ModelStatistics Statistics() const override;
  telemetry::LatencySummaries Summaries() const override;
  base::Result<cache::Digest> Fingerprint() const override;

 private:
  explicit Model(const ModelEnvironment& environment) : environment_(environment) {}
  base::Status Load(const ModelSource& source);
  base::Status InitializeBackend(const ModelSource& source, request::ModelIdentity* identity);
  /// Returns the configuration as the backend reads it: with the model's share of the CPU plan.
  std::string ConfigForBackend(const config::ModelConfig& config) const;
  base::Status ReadLabels(request::ModelIdentity* identity) const;
  /// Creates instances, initializes them and runs their warm-up.
  base::Result<std::vector<InstancePtr>> CreateInstances(
      const std::vector<InstanceSpec>& specs, const std::function<void()>& on_warm_up = nullptr);
  base::Status CreateScheduler(const ModelSource& source);
  base::Result<InstanceUpdate> PrepareInstances(const config::ModelConfig& wanted);
  /// Opens the model's custom batching library; null without one.
  base::Result<std::shared_ptr<schedule::BatchStrategy>> OpenBatchStrategy(
      const ModelSource& source);
  base::Status CreateCache();
  void CreateHistogram();
  static std::vector<schedule::BatchRunner*> RunnersOf(const std::vector<InstancePtr>& instances);
  /// Takes instances out of the scheduler and destroys them. Blocks until their work is done.
  void RemoveInstances(std::vector<InstancePtr> instances);
  static std::vector<schedule::SchedulerInstance> Active(const std::vector<InstancePtr>& instances);

  // Members are destroyed from last to first: the scheduler's threads end before the instances go,
  // and the instances before the backend's model.
  const ModelEnvironment environment_;
  std::string directory_;
  std::string version_directory_;
  std::shared_ptr<const request::SequenceInputs> sequence_inputs_;  // null without sequences
  CpuPlan::Entry cpu_share_;
  std::shared_ptr<const request::ModelIdentity> identity_;
  std::unique_ptr<backend::BackendModel> backend_model_;
  // By GPU. Only the thread that loads or updates the model uses the map.
  std::map<int32_t, std::shared_ptr<DeviceTurn>> turns_;
  InstanceSet instances_;
  std::vector<InstancePtr> left_behind_;  // retired; the thread to remove them could not be started
  std::unique_ptr<SchedulerStatistics> scheduler_statistics_;
  std::unique_ptr<CacheStatistics> cache_statistics_;  // null without a cache, like the next member
  std::unique_ptr<cache::ModelCache> response_cache_;
  std::unique_ptr<FirstResponseTimes> first_responses_;  // null if the server keeps no histograms
  std::shared_ptr<schedule::LatencyObjective> latency_objective_;  // null without an objective
  std::unique_ptr<schedule::Scheduler> scheduler_;
  BackgroundTasks removals_;  // of instances with sequences
};

}  // namespace nereid::model
