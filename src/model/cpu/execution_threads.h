// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "model/cpu/machine_load.h"
#include "model/cpu/thread_curve.h"
#include "telemetry/model_statistics.h"

namespace nereid::model {

/// Called with the result of a preparation.
using ThreadsPrepared = std::function<void(const base::Status&)>;

/// Decides for each execution of a model version with how many threads it runs, learns from its
/// duration, and counts. Executions are judged by the size of their inputs: each size class (below
/// 4 KiB, below 8 KiB, …) has its own curve. Thread-safe.
class ExecutionThreads {
 public:
  /// One execution, from Begin to End.
  struct Execution {
    size_t size_class = 0;
    size_t rung = 0;
    int threads = 1;
    double weight = 1;  // relative to an execution of the smallest size of its class
    uint64_t begin_ns = 0;
    MachineLoad::Turn turn;
  };

  /// Lets the framework prepare itself for `threads` threads, on another thread, and calls `done`
  /// with the result. Returns UNAVAILABLE if that cannot be started now.
  using Prepare = std::function<base::Status(int threads, const ThreadsPrepared& done)>;

  /// A model whose framework needs a preparation for each number of threads, or none if `prepare`
  /// is null. `most` is the largest number; `load` must outlive the object.
  static std::unique_ptr<ExecutionThreads> Changing(MachineLoad& load, const base::Clock& clock,
                                                    int most, Prepare prepare);
  /// A model whose executions always use `threads` threads.
  static std::unique_ptr<ExecutionThreads> Fixed(MachineLoad& load, const base::Clock& clock,
                                                 int threads);

  /// Decides about an execution with inputs of `input_bytes` bytes. Returns nothing for an
  /// execution that is known to be short: it runs with one thread and needs no End. `skipped`
  /// belongs to the instance and counts such executions, some of which are measured nevertheless.
  std::optional<Execution> Begin(uint64_t input_bytes, uint32_t& skipped) noexcept;
  void End(const Execution& execution);

  /// Returns whether the number of threads changes.
  bool varies() const { return ladder_.size() > 1; }

  /// Adds what is known to the statistics.
  void AddTo(telemetry::ModelStatistics* total) const;

 private:
  static constexpr size_t kSizeClasses = 24;
  /// One short execution of this many is measured, because its kind may have changed.
  static constexpr uint32_t kMeasureOneOf = 64;

  ExecutionThreads(MachineLoad& load, const base::Clock& clock, std::vector<int> ladder,
                   Prepare prepare);
  size_t Allowed(int threads) const;
  void StartPreparation(size_t rung);
  /// Returns whether a preparation has begun.
  bool TryPrepare(size_t rung);
  void OnPrepared(size_t rung, const base::Status& status);

  MachineLoad& load_;
  const base::Clock& clock_;
  const std::vector<int> ladder_;
  const Prepare prepare_;
  /// Whether the executions of a size class are short. A hint; the curve decides.
  std::array<std::atomic<bool>, kSizeClasses> short_{};

  mutable base::Mutex mutex_;
  std::array<ThreadCurve, kSizeClasses> curves_ NEREID_GUARDED_BY(mutex_);
  RungSet prepared_ NEREID_GUARDED_BY(mutex_);
  RungSet failed_ NEREID_GUARDED_BY(mutex_);
  bool preparing_ NEREID_GUARDED_BY(mutex_) = false;
  size_t last_class_ NEREID_GUARDED_BY(mutex_) = 0;
  ThreadChoice last_ NEREID_GUARDED_BY(mutex_);
  std::array<uint64_t, kMaxRungs> executions_ NEREID_GUARDED_BY(mutex_) = {};
};

}  // namespace nereid::model
