// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "python/channel.h"
#include "python/executing_batch.h"
#include "python/pending_request.h"
#include "python/process.h"
#include "python/segments.h"

namespace nereid::python {

/// What the server has of one running worker process: its sockets, the memory that they share and
/// the requests that the worker has. Shared by the instance's thread, its supervisor and the
/// callbacks of calls to other models. Thread-safe, except for `work`, which one thread receives
/// from.
class Worker {
 public:
  /// `limit` bounds the shared memory of each direction in bytes.
  /// `wake` is an eventfd that wakes the thread that runs the worker's loop.
  Worker(Process process, uint64_t limit, int wake)
      : segments(limit),
        work(std::move(process.work), &segments, wake),
        call(std::move(process.call), &segments, wake),
        process_(std::move(process)) {}

  /// Kills the process with the children in its process group, unless it has ended. The first
  /// `reason` ("did not answer in time") becomes a part of the reason of its end.
  void Kill(const std::string& reason) NEREID_EXCLUDES(mutex_);
  /// Returns the reason of Kill; empty if it was not called.
  std::string kill_reason() NEREID_EXCLUDES(mutex_);

  /// Waits for the end of the process, which has ended or will at once, and returns in words how it
  /// ended. Called once.
  std::string Reap() NEREID_EXCLUDES(mutex_);

  /// Records why the process has ended, and ends the connections. Only the first call counts.
  void MarkEnded(const std::string& reason) NEREID_EXCLUDES(mutex_);
  bool ended() const { return ended_.load(); }
  /// Waits for MarkEnded, at most for `time`. Returns whether it was called.
  bool WaitUntilEnded(std::chrono::milliseconds time) NEREID_EXCLUDES(mutex_);
  /// Waits until MarkEnded and returns its reason.
  std::string WaitForReason() NEREID_EXCLUDES(mutex_);

  /// Keeps a batch that executes after Execute has returned. Waits while `most` batches are there.
  /// Returns false, and keeps nothing, if the worker has ended.
  bool AddBatch(uint64_t id, std::shared_ptr<ExecutingBatch> batch, size_t most)
      NEREID_EXCLUDES(mutex_);
  /// Removes a batch; null if there is none with this id.
  std::shared_ptr<ExecutingBatch> TakeBatch(uint64_t id) NEREID_EXCLUDES(mutex_);
  std::vector<std::shared_ptr<ExecutingBatch>> TakeBatches() NEREID_EXCLUDES(mutex_);

  /// Returns when the oldest of these batches arrived, in nanoseconds of the steady clock; 0 if
  /// there is none.
  uint64_t OldestBatch() NEREID_EXCLUDES(mutex_);

  const Process& process() const { return process_; }

  Segments segments;
  Channel work;
  Channel call;
  PendingRequests requests;

  /// What the model's class has; known before the first batch.
  bool asynchronous = false;
  bool has_is_ready = false;

  /// Whether the pipeline receives on the work socket, until the end of the process.
  std::atomic<bool> has_reader{false};

  /// When the execution at work must end, in nanoseconds of the steady clock; 0 if there is none.
  std::atomic<uint64_t> execution_deadline_ns{0};

 private:
  Process process_;
  std::atomic<bool> ended_{false};
  base::Mutex mutex_;
  base::ConditionVariable changed_;
  std::string reason_ NEREID_GUARDED_BY(mutex_);
  std::string kill_reason_ NEREID_GUARDED_BY(mutex_);
  /// Whether the process id may belong to another process.
  bool reaped_ NEREID_GUARDED_BY(mutex_) = false;
  std::unordered_map<uint64_t, std::shared_ptr<ExecutingBatch>> batches_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::python
