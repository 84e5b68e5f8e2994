// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "nereid/backend/error.h"
#include "python/spawner.h"
#include "python/worker.h"
#include "python/worker_loop.h"

namespace nereid::python {

struct SupervisorSettings {
  LoopSettings loop;
  Command command;
  /// The shared memory of each direction, in bytes.
  uint64_t memory_limit = uint64_t{8} << 30;
  /// How often a process that ends by itself is replaced; see MayRestart.
  int64_t restart_limit = 10;
};

/// Returns how long to wait before the `failures`-th restart in a row (from 1): the first restart
/// is immediate.
std::chrono::milliseconds RestartDelay(int64_t failures);

/// Keeps a worker process running for one instance: starts it, runs its loop on a thread, and
/// starts another one when it ends by itself, until it has failed `restart_limit` times in a row. A
/// worker that has run for ten seconds ends the row. Thread-safe.
class Supervisor {
 public:
  /// `spawner` outlives the object.
  Supervisor(Spawner* spawner, SupervisorSettings settings);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  /// Starts the first worker and waits for its initialize(). Called once.
  backend::Error Start() NEREID_EXCLUDES(mutex_);

  /// Calls finalize() and waits for the end of the process. Called by the destructor.
  void Stop() NEREID_EXCLUDES(mutex_);

  /// Returns the running worker. While another one is started, waits for `patience`; then returns
  /// null, and `*reason` says why there is none.
  std::shared_ptr<Worker> Current(std::chrono::milliseconds patience, std::string* reason)
      NEREID_EXCLUDES(mutex_);

  /// Whether the worker runs and the model's is_ready(), if it has one, returns True. Waits for
  /// is_ready() for five seconds at most.
  backend::Error CheckReady() NEREID_EXCLUDES(mutex_);

 private:
  struct ReadyAnswer {
    bool done = false;
    bool ok = false;
    std::string text;
  };

  void Run() NEREID_EXCLUDES(mutex_);
  /// Runs one worker. Returns false if there is to be no other.
  bool RunOne(int64_t* failures) NEREID_EXCLUDES(mutex_);
  bool Stopping() NEREID_EXCLUDES(mutex_);
  void Started(const std::shared_ptr<Worker>& worker, const WireDone& done) NEREID_EXCLUDES(mutex_);
  void Ended(const std::string& reason) NEREID_EXCLUDES(mutex_);
  void Answered(uint64_t id, const WireDone& answer) NEREID_EXCLUDES(mutex_);
  /// Waits before a restart. Returns false if the supervisor is stopped.
  bool WaitForRestart(std::chrono::milliseconds delay) NEREID_EXCLUDES(mutex_);
  backend::Error AnswerOf(Worker* worker) NEREID_EXCLUDES(mutex_);
  void Ask(Worker* worker) NEREID_REQUIRES(mutex_);
  backend::Error ErrorOf(const ReadyAnswer& answer) const;

  Spawner& spawner_;
  const SupervisorSettings settings_;
  /// The loops of workers that have ended while a call of their models was at work: a restart does
  /// not wait for it. Used by the thread, and by Stop after its end.
  std::vector<std::unique_ptr<WorkerLoop>> ended_loops_;
  base::UniqueFd wake_;
  std::thread thread_;
  base::Mutex mutex_;
  base::ConditionVariable changed_;
  std::shared_ptr<Worker> worker_ NEREID_GUARDED_BY(mutex_);
  bool first_done_ NEREID_GUARDED_BY(mutex_) = false;
  std::string reason_ NEREID_GUARDED_BY(mutex_);
  bool restarting_ NEREID_GUARDED_BY(mutex_) = false;
  bool stop_ NEREID_GUARDED_BY(mutex_) = false;
  /// The question for readiness that is at work; those who ask meanwhile share its answer.
  std::shared_ptr<ReadyAnswer> question_ NEREID_GUARDED_BY(mutex_);
  uint64_t question_id_ NEREID_GUARDED_BY(mutex_) = 0;
};

}  // namespace nereid::python
