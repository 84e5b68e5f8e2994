// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/backend_model.h"
#include "backend/input_memory.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/timer_queue.h"
#include "cache/model_cache.h"
#include "config/model_config.h"
#include "device/gpus.h"
#include "model/background_tasks.h"
#include "model/cache_statistics.h"
#include "model/cpu/execution_threads.h"
#include "model/cpu_plan.h"
#include "model/first_response.h"
#include "model/gpu_load_limits.h"
#include "model/instance_set.h"
#include "model/model_version.h"
#include "model/scheduler_statistics.h"
#include "request/model_identity.h"
#include "request/sequence_inputs.h"
#include "schedule/adaptive/batch_limits.h"
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
  /// Returns whether there is memory for another copy of the model whose files are in this
  /// directory; null: always. For the CPU plan.
  std::function<bool(const std::string& version_directory)> may_copy_model = {};
  /// The CPU plan; null if every framework chooses its own number of threads.
  CpuPlan* cpu_plan = nullptr;
  TRITONSERVER_Server* c_server = nullptr;
  cache::ResponseCache* response_cache = nullptr;  // null: the server has none
  bool histogram_latencies = false;  // whether models keep histograms of first responses
  LatencyDetail latencies = {};      // what models keep of latencies
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
    if (response_cache_ == nullptr) return scheduler_->Enqueue(request);
    // The model owns the scheduler and outlives its requests.
    const cache::ModelCache::Target scheduler(std::shared_ptr<void>(), scheduler_.get());
    return response_cache_->Enqueue(request, cache_fingerprint_, scheduler);
  }
  /// None with a response cache: the key of a response is computed of inputs that do not change.
  memory::HostBuffer TakeInputMemory(size_t size) override {
    if (response_cache_ != nullptr) return {};
    return backend::TakeInputMemory(*backend_model_, size);
  }
  void EndIdleSequences() override { scheduler_->EndIdleSequences(); }
  schedule::SequencePort* sequence_port() const override { return scheduler_->sequence_port(); }
  telemetry::SequenceList ListSequences(size_t most) const override {
    return scheduler_->ListSequences(most);
  }

  /// Returns an error if the backend reports an instance as not ready, or an execution is stuck.
  base::Status CheckReady() override;

  telemetry::ModelStatistics Statistics() const override;
  telemetry::LatencySummaries Summaries() const override;

 private:
  explicit Model(const ModelEnvironment& environment) : environment_(environment) {}
  base::Status Load(const ModelSource& source);
  base::Status InitializeBackend(const ModelSource& source, request::ModelIdentity* identity);
  /// Decides how the threads of executions are chosen. Called when the backend has the model.
  void PlanThreads(const base::CpuPlacement& placement);
  /// Lets the backend prepare itself for a number of threads, on a thread with this placement.
  base::Status PrepareThreads(const base::CpuPlacement& placement, int threads,
                              const ThreadsPrepared& done);
  base::Status ReadLabels(request::ModelIdentity* identity) const;
  /// Returns the instances of a configuration, with those that the CPU plan adds. `written` is the
  /// configuration before its completion.
  base::Result<std::vector<InstanceSpec>> WantedInstances(const config::ModelConfigPtr& completed,
                                                          const config::ModelConfig& written);
  /// Creates instances, initializes them and runs their warm-up.
  base::Result<std::vector<InstancePtr>> CreateInstances(
      const std::vector<InstanceSpec>& specs, const std::function<void()>& on_warm_up = nullptr);
  base::Status CreateScheduler(const ModelSource& source);
  base::Result<InstanceUpdate> PrepareInstances(const config::ModelConfig& wanted);
  /// Opens the model's custom batching library; null without one.
  base::Result<std::shared_ptr<schedule::BatchStrategy>> OpenBatchStrategy(
      const ModelSource& source);
  base::Status CreateCache();
  /// Takes instances out of the scheduler and destroys them. Blocks until their work is done.
  void RemoveInstances(std::vector<InstancePtr> instances);

  // Members are destroyed from last to first: the scheduler's threads end before the instances go,
  // and the instances before the backend's model.
  const ModelEnvironment environment_;
  std::string directory_;
  std::string version_directory_;
  std::shared_ptr<const request::SequenceInputs> sequence_inputs_;  // null without sequences
  CpuPlan::Entry cpu_share_;
  std::shared_ptr<const request::ModelIdentity> identity_;
  std::unique_ptr<backend::BackendModel> backend_model_;
  std::unique_ptr<ExecutionThreads> threads_;  // null without a plan
  BackgroundTasks preparations_;               // of the backend for numbers of threads
  // By GPU. Only the thread that loads or updates the model uses the map.
  std::map<int32_t, std::shared_ptr<DeviceTurn>> turns_;
  InstanceSet instances_;
  std::vector<InstancePtr> left_behind_;  // retired; the thread to remove them could not be started
  std::unique_ptr<SchedulerStatistics> scheduler_statistics_;
  std::unique_ptr<CacheStatistics> cache_statistics_;  // null without a cache, like the next member
  std::unique_ptr<cache::ModelCache> response_cache_;
  cache::Digest cache_fingerprint_{};                    // of the content, with a cache
  std::unique_ptr<FirstResponseTimes> first_responses_;  // null if the server keeps no histograms
  std::optional<uint64_t> latency_objective_ns_;
  std::shared_ptr<schedule::BatchLimits> batch_limits_;  // null without learned limits
  std::unique_ptr<schedule::Scheduler> scheduler_;
  BackgroundTasks removals_;  // of instances with sequences
};

}  // namespace nereid::model
