// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stages.h"
#include "base/timer_queue.h"
#include "device/gpus.h"
#include "model/cpu_plan.h"
#include "model/model.h"
#include "server/server_settings.h"

namespace nereid::backend {
class BackendRegistry;
}
namespace nereid::cache {
class ResponseCache;
}
namespace nereid::schedule {
class ResourcePermits;
}
namespace nereid::server {

/// A backend's line in the start-up table.
struct BackendSummary {
  std::string name;
  std::string path;
  std::string config_json;
};

/// The objects that all models of a server share: timers, backends, the response cache, the rate
/// limiter's resources, the plan of the CPUs, the list of GPUs. Outlives the models. Thread-safe,
/// because the objects are and the pointers to them do not change after Create.
class ModelRuntime {
 public:
  /// `settings` must outlive the runtime. Returns INVALID_ARGUMENT, NOT_FOUND or UNAVAILABLE if a
  /// setting is wrong, a cache is missing or the system has no thread for the timers.
  static base::Result<std::unique_ptr<ModelRuntime>> Create(const ServerSettings& settings);
  ~ModelRuntime();

  /// Returns references to these objects, and the settings that concern the execution of models.
  model::ModelEnvironment Environment();
  base::ThreadTimerQueue& timers() { return timers_; }

  /// Announces how many models are about to be loaded, so that the first ones do not get all CPUs;
  /// 0: all are loaded. Does nothing without a plan.
  void ExpectModels(size_t count);
  /// Returns how the loaded models share the CPUs; empty without a plan.
  std::vector<model::CpuShare> CpuShares() const;
  std::vector<BackendSummary> Backends() const;
  /// Returns the GPUs of the machine as they were when the server started.
  const device::Gpus& gpus() const { return gpus_; }

 private:
  explicit ModelRuntime(const ServerSettings& settings);
  base::Status OpenResponseCache();

  const ServerSettings& settings_;
  const device::Gpus gpus_;
  model::GpuLoadLimits gpu_load_limits_;
  // Members are destroyed from last to first: the backends before the timers that they may use.
  base::ThreadTimerQueue timers_;
  const base::StageList::Entry listed_timers_{{base::StageKind::kTimers, "timers"}, timers_};
  const std::unique_ptr<model::CpuPlan> cpu_plan_;            // null if the plan is off
  const std::unique_ptr<schedule::ResourcePermits> permits_;  // null if the rate limiter is off
  const std::unique_ptr<backend::BackendRegistry> backends_;
  std::unique_ptr<cache::ResponseCache> response_cache_;  // null without --cache-config
};

}  // namespace nereid::server
