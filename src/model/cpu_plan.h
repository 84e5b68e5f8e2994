// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/model_config.h"

namespace nereid::model {

/// The parameter of a model that says how many threads each of its instances may keep busy, its own
/// included. Whoever writes it into config.pbtxt decides; otherwise the server writes its plan into
/// the configuration that the backend reads, and into no other.
inline constexpr const char* kCpuThreadsParameter = "cpu_threads_per_instance";

/// The threads of each instance where `cpus` CPUs are shared first by `models` models, then by the
/// `instances` instances of one of them; at least 1.
int ThreadsPerInstance(int cpus, size_t models, size_t instances);

/// A model's part of the plan, as the start-up table shows it.
struct CpuShare {
  std::string model;
  int64_t version = 0;
  size_t instances = 0;   // on CPUs, without passive ones
  int threads = 0;        // of each instance
  std::vector<int> cpus;  // to which they are bound; empty: all that the process may use
  std::string set_by;     // "plan", or what overrides it
};

/// Settings by backend name, "" for all (--backend-config).
using BackendSettings = std::map<std::string, std::vector<std::pair<std::string, std::string>>>;

/// The plan of a server: shares out the CPUs among the models that are there when each is loaded. A
/// share does not change while its model serves: frameworks fix their threads when they open a
/// model. Thread-safe.
class CpuPlan {
 public:
  /// Keeps a model in the plan while it lives. Must not outlive the plan.
  class Entry {
   public:
    Entry() = default;
    Entry(Entry&& other) noexcept { *this = std::move(other); }
    Entry& operator=(Entry&& other) noexcept;
    ~Entry();
    /// 0 without a plan.
    int threads() const { return plan_ == nullptr ? 0 : share_->threads; }

   private:
    friend class CpuPlan;
    CpuPlan* plan_ = nullptr;
    std::list<CpuShare>::iterator share_;
  };

  /// `cpus`: how many there are to share, see base::UsableCpuCount.
  CpuPlan(int cpus, BackendSettings defaults) : cpus_(cpus), defaults_(std::move(defaults)) {}

  /// So many models are about to be loaded: shares are cut for at least that many.
  void Expect(size_t models);

  /// Takes a model in. `bound_to` are the CPUs that a host policy gives its instances; then those
  /// are shared, among its instances alone. INVALID_ARG for a bad value of kCpuThreadsParameter.
  base::Result<Entry> Add(const config::ModelConfig& config, int64_t version,
                          const std::vector<int>& bound_to);

  int cpus() const { return cpus_; }
  /// By model and version.
  std::vector<CpuShare> Shares() const;

 private:
  size_t ModelCountLocked(const std::string& with) const;

  const int cpus_;
  const BackendSettings defaults_;
  mutable std::mutex mutex_;
  std::list<CpuShare> shares_;  // guarded by mutex_
  size_t expected_ = 0;         // guarded by mutex_
};

/// The number of instances that take part: on CPUs and not passive.
size_t CountCpuInstances(const config::ModelConfig& config);

/// `config` with kCpuThreadsParameter set to `threads` where it is not set and threads > 0.
config::ModelConfigPtr WithCpuThreads(const config::ModelConfig& config, int threads);

}  // namespace nereid::model
