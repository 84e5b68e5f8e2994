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

namespace nereid::model {

/// The model parameter that gives the number of threads that each of its instances may keep busy,
/// including its own. A value in config.pbtxt overrides the plan. Otherwise the server writes its
/// plan into the configuration that the backend reads, and only there.
inline constexpr const char* kCpuThreadsParameter = "cpu_threads_per_instance";

/// Returns the threads of each instance if `cpus` CPUs are shared equally by `models` models and
/// then by the `instances` instances of one of them; at least 1.
int ThreadsPerInstance(int cpus, size_t models, size_t instances);

/// A model's part of the plan, as the start-up table shows it.
struct CpuShare {
  std::string model;
  int64_t version = 0;
  size_t instances = 0;   // on CPUs, without passive ones
  int threads = 0;        // of each instance
  std::vector<int> cpus;  // to which they are bound; empty: all CPUs of the process
  std::string set_by;     // "plan", or the setting that overrides the plan
};

/// Settings of --backend-config by backend name; "" for all backends.
using BackendSettings = std::map<std::string, std::vector<std::pair<std::string, std::string>>>;

/// The CPU plan of a server: divides the CPUs among the models that are loaded or expected when a
/// model is loaded. A share does not change while its model serves, because frameworks fix their
/// number of threads when they open a model. Thread-safe.
class CpuPlan {
 public:
  /// Keeps a model in the plan until it is destroyed. Must not outlive the plan.
  class Entry {
   public:
    Entry() = default;
    Entry(Entry&& other) noexcept { *this = std::move(other); }
    Entry& operator=(Entry&& other) noexcept;
    ~Entry();
    /// Returns the threads per instance; 0 without a plan.
    int threads() const { return plan_ == nullptr ? 0 : share_->threads; }

   private:
    friend class CpuPlan;
    CpuPlan* plan_ = nullptr;
    std::list<CpuShare>::iterator share_;
  };

  /// `cpus` is the number of CPUs to share; see base::UsableCpuCount.
  CpuPlan(int cpus, BackendSettings defaults) : cpus_(cpus), defaults_(std::move(defaults)) {}

  /// Announces that `models` models are about to be loaded: shares are for at least that many
  /// models.
  void Expect(size_t models);

  /// Adds a model. `bound_to` are the CPUs to which a host policy binds its instances; if not
  /// empty, only those are shared, by this model's instances alone. Returns INVALID_ARGUMENT for a
  /// bad value of kCpuThreadsParameter.
  base::Result<Entry> Add(const config::ModelConfig& config, int64_t version,
                          const std::vector<int>& bound_to);

  int cpus() const { return cpus_; }
  /// Returns the shares, sorted by model and version.
  std::vector<CpuShare> Shares() const;

 private:
  /// Returns the number of models to share for, one of which is `with`.
  size_t ModelCountLocked(const std::string& with) const NEREID_REQUIRES(mutex_);
  void ForgetLocked(std::list<CpuShare>::iterator share) NEREID_REQUIRES(mutex_);

  const int cpus_;
  const BackendSettings defaults_;
  mutable base::Mutex mutex_;
  std::list<CpuShare> shares_ NEREID_GUARDED_BY(mutex_);
  /// The number of shares of each model, which has one for each of its versions.
  std::map<std::string, size_t> versions_ NEREID_GUARDED_BY(mutex_);
  size_t expected_ NEREID_GUARDED_BY(mutex_) = 0;
};

/// Returns the number of instances that take part in the plan: on CPUs and not passive.
size_t CountCpuInstances(const config::ModelConfig& config);

/// Returns `config` with kCpuThreadsParameter set to `threads`, if it is not set and `threads` > 0.
config::ModelConfigPtr WithCpuThreads(const config::ModelConfig& config, int threads);

}  // namespace nereid::model
