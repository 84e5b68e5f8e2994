// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/clock.h"
#include "schedule/batch_assigner.h"
#include "schedule/inline_policy.h"
#include "schedule/scheduler_observer.h"
#include "schedule/worker.h"

namespace nereid::schedule {

/// Returns the byte size of all inputs of a batch.
uint64_t InputBytes(const Batch& batch);

/// A batch that runs on the thread that has enqueued a request.
struct InlineBatch {
  Worker* worker = nullptr;
  Batch batch;
  uint64_t input_bytes = 0;
};

/// Runs batches on the calling thread and records how long they took. Thread-safe. No lock may be
/// held by its callers.
class BatchExecutor {
 public:
  /// An execution of `limit_ns` or more is logged when it ends; 0: none is.
  BatchExecutor(std::string model_name, const base::Clock& clock, SchedulerObserver& observer,
                InlineMode inline_mode, uint64_t limit_ns)
      : model_name_(std::move(model_name)),
        clock_(clock),
        observer_(observer),
        inline_policy_(inline_mode),
        limit_ns_(limit_ns) {}

  /// Takes the batch out of an assignment, to run it on the calling thread: if each of its requests
  /// may run inline, executions are short, and the instance has room. Returns whether it has done
  /// so. Called with the scheduler's lock held.
  bool TakeInline(uint64_t now_ns, Assignment* assignment, InlineBatch* taken) const;

  /// Runs a batch of the worker, which is busy, and sets its `executed_…` members. `input_bytes` is
  /// the byte size of all inputs. A batch without requests counts as executed, too.
  void Run(Worker& worker, Batch batch, uint64_t input_bytes);

  /// Logs a warning if the last batch of the worker, which ran inline, has held up the event loop
  /// that ran it.
  void WarnOfOverrun(const Worker& worker) const;

 private:
  /// Logs, traces and counts a batch that is about to run. `wait_ns` is the wait of its oldest
  /// request.
  void Announce(const Worker& worker, const Batch& batch, uint64_t now_ns, uint64_t wait_ns) const;

  const std::string model_name_;
  const base::Clock& clock_;
  SchedulerObserver& observer_;
  InlinePolicy inline_policy_;
  const uint64_t limit_ns_;
};

}  // namespace nereid::schedule
