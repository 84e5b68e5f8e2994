// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "config/model_config.h"
#include "model/cpu/machine_load.h"

namespace nereid::model {

/// The model parameter that gives the number of threads that each of its instances may keep busy,
/// including its own. A value in config.pbtxt overrides the plan. Otherwise the server writes its
/// plan into the configuration that the backend reads, and only there.
inline constexpr const char* kCpuThreadsParameter = "cpu_threads_per_instance";

/// The parameter that tells a backend that the server chooses the number of threads of each
/// execution (nereid/backend/cpu_threads.h). Only the server sets it, and only for backends that
/// can do so; kCpuThreadsParameter is for the executions that have a fixed number nevertheless.
inline constexpr const char* kCpuThreadsVaryParameter = "cpu_threads_vary";

/// The parameter that tells a backend that kCpuThreadsParameter is the size of a pool that all its
/// models share. Only the server sets it, for backends whose framework has such a pool.
inline constexpr const char* kCpuThreadsSharedParameter = "cpu_threads_shared";

/// Returns the threads of each instance if `cpus` CPUs are shared equally by `models` models and
/// then by the `instances` instances of one of them; at least 1.
int ThreadsPerInstance(int cpus, size_t models, size_t instances);

/// Returns how many instances a model should have whose instances cost little and whose
/// configuration gives no number, if `listed` are the default: enough for the model to use four
/// times its share of the CPUs with one thread for each execution, because other models are idle
/// most of the time. Two at least, if there are two CPUs, so that two clients of one model can
/// use both.
int PlannedInstances(int cpus, size_t models, int listed);

/// A model's part of the plan, as the start-up table shows it.
struct CpuShare {
  std::string model;
  int64_t version = 0;
  size_t instances = 0;  // on CPUs, without passive ones; with those that the plan adds
  int threads = 0;       // of each instance
  bool shared = false;   // in a pool that all models of the backend share
  bool varies = false;   // the server chooses the number for each execution, up to most_threads
  int most_threads = 0;
  std::vector<int> cpus;  // to which they are bound; empty: all CPUs of the process
  std::string set_by;     // "plan", or the setting that overrides the plan
};

/// Settings of --backend-config by backend name; "" for all backends.
using BackendSettings = std::map<std::string, std::vector<std::pair<std::string, std::string>>>;

/// The CPU plan of a server. Models whose backend can change the number of threads use the CPUs
/// that are idle when an execution begins (cpu/execution_threads.h). For the others the plan
/// divides the CPUs among the models that are loaded or expected when a model is loaded; that share
/// does not change while the model serves. Thread-safe.
class CpuPlan {
 public:
  /// Keeps a model in the plan until it is destroyed. Must not outlive the plan.
  class Entry {
   public:
    Entry() = default;
    Entry(Entry&& other) noexcept { *this = std::move(other); }
    Entry& operator=(Entry&& other) noexcept;
    ~Entry();
    /// Returns the share; one without threads without a plan.
    CpuShare share() const { return plan_ == nullptr ? CpuShare{} : *share_; }
    /// Returns the threads per instance; 0 without a plan.
    int threads() const { return plan_ == nullptr ? 0 : share_->threads; }
    /// Returns whether the server chooses the number of threads of each execution, up to
    /// most_threads().
    bool varies() const { return plan_ != nullptr && share_->varies; }
    int most_threads() const { return plan_ == nullptr ? 0 : share_->most_threads; }
    /// Tells that the number of threads turned out to be fixed.
    void Fix();
    /// Lets the plan add instances: they share the model in memory, and none keeps anything for its
    /// next execution.
    void LetInstancesBeAdded() { adds_instances_ = true; }
    /// Returns `completed` with the number of instances that the plan wants, if it may add some and
    /// `written`, the configuration before its completion, gives no number.
    config::ModelConfigPtr WithInstances(const config::ModelConfigPtr& completed,
                                         const config::ModelConfig& written);

   private:
    friend class CpuPlan;
    CpuPlan* plan_ = nullptr;
    bool adds_instances_ = false;
    std::list<CpuShare>::iterator share_;
  };

  /// `cpus` is the number of CPUs to share; see base::UsableCpuCount.
  CpuPlan(int cpus, BackendSettings defaults)
      : cpus_(cpus), defaults_(std::move(defaults)), load_(cpus) {}

  /// Announces that `models` models are about to be loaded: shares are for at least that many
  /// models.
  void Expect(size_t models);

  /// Adds a model. `bound_to` are the CPUs to which a host policy binds its instances; if not
  /// empty, only those are shared, by this model's instances alone. `can_vary` tells whether its
  /// backend can change the number of threads; a setting for the number wins. Returns
  /// INVALID_ARGUMENT for a bad value of kCpuThreadsParameter.
  base::Result<Entry> Add(const config::ModelConfig& config, int64_t version,
                          const std::vector<int>& bound_to, bool can_vary = false);

  int cpus() const { return cpus_; }
  /// Returns the executions that run now.
  MachineLoad& load() { return load_; }
  /// Returns the shares, sorted by model and version.
  std::vector<CpuShare> Shares() const;

 private:
  /// Returns the number of models to share for, one of which is `with`.
  size_t ModelCountLocked(const std::string& with) const NEREID_REQUIRES(mutex_);
  void ForgetLocked(std::list<CpuShare>::iterator share) NEREID_REQUIRES(mutex_);

  const int cpus_;
  const BackendSettings defaults_;
  MachineLoad load_;
  mutable base::Mutex mutex_;
  std::list<CpuShare> shares_ NEREID_GUARDED_BY(mutex_);
  /// The number of shares of each model, which has one for each of its versions.
  std::map<std::string, size_t> versions_ NEREID_GUARDED_BY(mutex_);
  size_t expected_ NEREID_GUARDED_BY(mutex_) = 0;
};

/// Returns the number of instances that take part in the plan: on CPUs and not passive.
size_t CountCpuInstances(const config::ModelConfig& config);

/// Returns `config` as a backend reads it: with the parameters of a share, of which
/// kCpuThreadsParameter is not set if the model sets it.
config::ModelConfigPtr WithCpuThreads(const config::ModelConfig& config, const CpuShare& share);

}  // namespace nereid::model
