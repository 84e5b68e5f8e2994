// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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
#include "model/cache_statistics.h"
#include "model/model_instance.h"
#include "model/scheduler_statistics.h"
#include "request/model_identity.h"
#include "schedule/inline_policy.h"
#include "schedule/scheduler.h"
#include "telemetry/model_statistics.h"

namespace nereid::model {

/// What every model of a server shares. The references must outlive the models.
struct ModelEnvironment {
  backend::BackendRegistry& backends;
  const base::Clock& clock;
  base::TimerQueue& timers;
  bool auto_complete = true;
  schedule::InlineMode inline_mode = schedule::InlineMode::kAuto;
  std::map<std::string, std::map<std::string, std::string>> host_policies = {};
  TRITONSERVER_Server* c_server = nullptr;
  cache::ResponseCache* response_cache = nullptr;  // null: the server has none
};

/// Where a model version comes from.
struct ModelSource {
  std::string name;
  int64_t version = 0;
  std::string directory;          // the model's
  std::string version_directory;  // may not exist for models made of nothing but configuration
  config::ModelConfigPtr config;  // completed from the files, normalised, validated
};

/// One loaded version of a model: configuration, backend, instances, scheduler, statistics.
/// Thread-safe. It must be destroyed on a thread that is not one of its own instances'.
class Model {
 public:
  /// Loads the version: finds the backend, lets it complete the configuration, makes the
  /// instances. Blocks for as long as the framework takes.
  static base::Result<std::unique_ptr<Model>> Create(const ModelEnvironment& environment,
                                                     const ModelSource& source);
  ~Model();

  const request::ModelIdentity& identity() const { return identity_; }
  const config::ModelConfig& config() const { return *identity_.config; }

  /// Takes a normalised request; see schedule::Scheduler.
  base::Status Enqueue(std::unique_ptr<request::InferenceRequest>& request) {
    return response_cache_ != nullptr ? response_cache_->Enqueue(request, *scheduler_)
                                      : scheduler_->Enqueue(request);
  }
  void StopAccepting() { scheduler_->StopAccepting(); }

  /// Whether the backend says that every instance can work.
  base::Status CheckReady();

  telemetry::ModelStatistics Statistics() const;

 private:
  Model() = default;
  base::Status Load(const ModelEnvironment& environment, const ModelSource& source);
  base::Status InitializeBackend(const ModelEnvironment& environment, const ModelSource& source);
  base::Status ReadLabels(const std::string& directory);
  base::Status CreateInstances(const ModelEnvironment& environment);
  void CreateScheduler(const ModelEnvironment& environment);
  base::Status CreateCache(const ModelEnvironment& environment, const ModelSource& source);

  // Destroyed from the last to the first: the scheduler's threads end before the instances go.
  request::ModelIdentity identity_;
  std::unique_ptr<backend::BackendModel> backend_model_;
  std::vector<std::unique_ptr<ModelInstance>> instances_;
  std::unique_ptr<SchedulerStatistics> scheduler_statistics_;
  std::unique_ptr<CacheStatistics> cache_statistics_;  // null, as the next, without a cache
  std::unique_ptr<cache::ModelCache> response_cache_;
  std::unique_ptr<schedule::Scheduler> scheduler_;
};

}  // namespace nereid::model
