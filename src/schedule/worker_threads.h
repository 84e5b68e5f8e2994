// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "schedule/refusal_sender.h"
#include "schedule/worker.h"
#include "schedule/worker_pool.h"

namespace nereid::schedule {

/// Starts the threads of a scheduler's workers: with the workers, or each with the first batch of
/// its worker. Thread-safe.
class WorkerThreads {
 public:
  struct Settings {
    const std::string& model_name;  // must outlive the object
    bool starts_late = false;
  };

  /// `mutex` is the scheduler's, which guards the workers, and `worker_free` is notified when a
  /// worker's thread is noted. `run` is the function of the threads. All must outlive this object.
  WorkerThreads(const Settings& settings, base::Mutex& mutex, base::ConditionVariable& worker_free,
                const RefusalSender& refusals, std::function<void(Worker&)> run)
      : settings_(settings),
        mutex_(mutex),
        worker_free_(worker_free),
        refusals_(refusals),
        run_(std::move(run)) {}

  /// Returns whether a worker's thread is started when it has its first batch.
  bool StartsLate() const { return settings_.starts_late; }

  /// Starts a thread that runs the worker. Returns the error of base::StartThread.
  base::Result<std::thread> Start(Worker& worker) noexcept;

  /// Starts the threads of workers that have their first batch: a list by Worker::next_unstarted.
  /// Returns the list of those for which the system has no thread. Their requests are answered with
  /// that error; the workers are still busy, so that the scheduler is not destroyed. If the list is
  /// empty, the scheduler may be destroyed when the call returns.
  Worker* StartAll(Worker* workers) NEREID_EXCLUDES(mutex_);
  /// Makes workers that StartAll has returned idle, and notifies `worker_free`. The scheduler's
  /// mutex must be held.
  void Free(Worker* workers, WorkerPool* pool);

 private:
  void RefuseBatch(Worker& worker, const base::Status& reason) NEREID_EXCLUDES(mutex_);

  const Settings settings_;
  base::Mutex& mutex_;
  base::ConditionVariable& worker_free_;
  const RefusalSender& refusals_;
  const std::function<void(Worker&)> run_;
};

}  // namespace nereid::schedule
