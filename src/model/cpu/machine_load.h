// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/mutex.h"

namespace nereid::model {

/// The mean number of executions that run at the same time, over the last tens of milliseconds. It
/// bridges the short gaps between the executions of a busy client. A pure object.
class MeanRunning {
 public:
  /// The time constant of the exponential decay.
  static constexpr double kDecayNs = 50e6;

  /// Tells that the number has been `running` from the last call until `now_ns`.
  void Advance(int running, uint64_t now_ns);
  double value() const { return mean_; }

 private:
  double mean_ = 0;
  uint64_t last_ns_ = 0;
};

/// Returns how many threads an execution that begins should have at most: its share if `running`
/// other executions use `busy` threads of `cpus` CPUs, and `mean` executions ran at the same time
/// lately. From 1 to `cpus`.
int FairThreads(int cpus, int running, int busy, double mean);

/// The executions that run in this server and their threads. Thread-safe.
class MachineLoad {
 public:
  explicit MachineLoad(int cpus) : cpus_(cpus) {}
  MachineLoad(const MachineLoad&) = delete;
  MachineLoad& operator=(const MachineLoad&) = delete;

  /// Identifies the time in which an execution runs.
  struct Turn {
    int threads = 0;
    bool crowded = false;    // more threads than CPUs when it began
    uint64_t crowdings = 0;  // how often that had happened before
  };

  /// Returns how many threads an execution that begins at `now_ns` should have at most.
  int Permitted(uint64_t now_ns);

  /// Tells that an execution begins with `threads` threads.
  Turn Begin(int threads, uint64_t now_ns);

  /// Tells that it ends. Returns whether no other execution wanted its CPUs meanwhile, so that its
  /// duration says something about its number of threads.
  bool End(const Turn& turn, uint64_t now_ns);

  /// Returns true if no other preparation is in progress; EndPreparation must follow then.
  bool BeginPreparation();
  void EndPreparation();

  int cpus() const { return cpus_; }

 private:
  const int cpus_;
  base::Mutex mutex_;
  int running_ NEREID_GUARDED_BY(mutex_) = 0;  // executions
  int busy_ NEREID_GUARDED_BY(mutex_) = 0;     // threads of executions
  uint64_t crowdings_ NEREID_GUARDED_BY(mutex_) = 0;
  bool preparing_ NEREID_GUARDED_BY(mutex_) = false;
  MeanRunning mean_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::model
