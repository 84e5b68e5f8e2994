// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include "base/mutex.h"
#include "schedule/batch_planner.h"
#include "schedule/scheduler.h"

namespace nereid::schedule {

/// An instance and its thread. The mutex of the scheduler guards every member, except those with
/// another note. (The analysis of clang cannot check that: the mutex belongs to another object.)
///
/// How a batch reaches the thread: the thread that plans writes `batch` under the mutex and then
/// notifies `ready`. The worker's thread takes the batch out under the mutex. `stop` is set only
/// while there is no batch, so a batch is never lost. An inline execution leaves `batch` empty: the
/// thread sleeps on while the calling thread does its work.
///
/// The thread may be started late: the thread that plans the first batch for it starts it, without
/// the mutex. Until that thread has noted the result, the worker `is_starting` and must not be
/// removed.
struct Worker : std::enable_shared_from_this<Worker> {
  SchedulerInstance instance;  // does not change while the thread runs
  InstanceId id = 0;
  base::ConditionVariable ready;
  std::optional<Batch> batch;  // handed over; the worker's thread has not taken it yet
  uint64_t busy_since_ns = 0;  // when its batch was formed; 0: the worker has no batch
  bool is_inline = false;      // the thread that brought the request runs the batch
  bool reported_stuck = false;
  bool leaving = false;              // is being removed: gets no further batch
  bool stop = false;                 // its thread must end
  bool has_thread = false;           // it runs, or is being started
  bool is_starting = false;          // `thread` is about to be set
  Worker* next_unstarted = nullptr;  // in the list of Assignment::unstarted
  // The last batch that was run, for the planner. Written without the lock by the thread that
  // runs the batch: while a worker is busy, only that thread uses these members.
  uint64_t executed_size = 0;
  uint64_t executed_wait_ns = 0;
  uint64_t executed_ns = 0;
  std::thread thread;

  /// Returns whether the present execution has taken `limit_ns` or more.
  bool IsStuck(uint64_t now_ns, uint64_t limit_ns) const {
    return busy_since_ns != 0 && now_ns >= busy_since_ns && now_ns - busy_since_ns >= limit_ns;
  }
};

}  // namespace nereid::schedule
