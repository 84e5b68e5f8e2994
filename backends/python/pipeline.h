// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "nereid/backend/error.h"
#include "python/channel.h"
#include "python/executing_batch.h"
#include "python/execution_pace.h"
#include "python/worker.h"
#include "triton/core/tritonbackend.h"

namespace nereid::python {

/// The batches that the workers of one instance have, in the order in which they were sent, and the
/// thread that receives their results. If executions are short, the worker gets further batches
/// before it has answered the first one (ExecutionPace). Thread-safe.
///
/// When a worker ends, the first of its batches fails: it may be the cause. The worker had not
/// begun the others, because it answers a batch before it begins the next one; they are repeated.
class Pipeline {
 public:
  using Requests = std::vector<TRITONBACKEND_Request*>;

  struct Settings {
    /// The name of the instance.
    std::string name;
    /// The limit of one execution; 0 for none.
    std::chrono::milliseconds execution_limit{0};
    /// Executes requests that a worker has not begun. Takes them in any case. Called on the thread
    /// of the pipeline while it has no batch.
    std::function<void(Requests)> repeat;
  };

  explicit Pipeline(Settings settings) : settings_(std::move(settings)) {}
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline();

  /// Starts the thread.
  backend::Error Start();

  /// Whether a batch may be added and WaitForRoom be left out.
  bool HasRoom() const { return size_.load() < depth_.load() && depth_.load() > 1; }

  /// Adds a batch. It is sent to the worker afterwards.
  void Add(std::shared_ptr<Worker> worker, uint64_t id, std::shared_ptr<ExecutingBatch> batch)
      NEREID_EXCLUDES(mutex_);
  /// Waits while there are too many batches: until the last one is answered if executions are long,
  /// and otherwise until there is room for several, so that a wait is rare.
  void WaitForRoom() NEREID_EXCLUDES(mutex_);

  /// Leaves requests to the thread, which repeats them when it has no batch.
  void Repeat(Requests requests) NEREID_EXCLUDES(mutex_);

  /// Waits until all batches are answered.
  void Drain() NEREID_EXCLUDES(mutex_);
  /// Ends the thread, which waits for a worker as long as one runs. Called after Drain and after
  /// the end of the last worker.
  void Stop() NEREID_EXCLUDES(mutex_);

 private:
  struct Entry {
    std::shared_ptr<Worker> worker;
    uint64_t id = 0;
    std::shared_ptr<ExecutingBatch> batch;
  };

  void Run() NEREID_EXCLUDES(mutex_);
  /// Waits until there is a batch, and returns its worker; null if the thread is to end.
  std::shared_ptr<Worker> NextWorker() NEREID_EXCLUDES(mutex_);
  /// Repeats the oldest requests that wait for it, if there is no batch.
  void RepeatOne() NEREID_EXCLUDES(mutex_);
  /// Receives a message of the worker. Returns false at the end of its connection.
  bool Receive(const std::shared_ptr<Worker>& worker) NEREID_EXCLUDES(mutex_);
  /// Returns what is wrong with a message, if anything is.
  std::string Handle(Worker* worker) NEREID_EXCLUDES(mutex_);
  /// Returns the first batch if it is this one of this worker; null if it is not.
  std::shared_ptr<ExecutingBatch> First(Worker* worker, uint64_t id) NEREID_EXCLUDES(mutex_);
  /// Removes the first batch, which was answered; its execution ended at `end_ns`.
  void RemoveFirst(uint64_t end_ns) NEREID_EXCLUDES(mutex_);
  /// Answers the first batch of a worker that has ended, and leaves its others to RepeatOne.
  void FailWorker(Worker* worker) NEREID_EXCLUDES(mutex_);
  void BeginFirst(uint64_t now_ns) NEREID_REQUIRES(mutex_);
  void SizeChanged() NEREID_REQUIRES(mutex_);

  const Settings settings_;
  std::thread thread_;
  Incoming incoming_;
  /// Copies of the number of entries and of pace_.depth(), for HasRoom.
  std::atomic<size_t> size_{0};
  std::atomic<size_t> depth_{1};
  base::Mutex mutex_;
  base::ConditionVariable changed_;
  std::deque<Entry> entries_ NEREID_GUARDED_BY(mutex_);
  std::deque<Requests> repeats_ NEREID_GUARDED_BY(mutex_);
  /// Whether requests were taken out of `repeats_` and are not yet in `entries_`.
  bool repeating_ NEREID_GUARDED_BY(mutex_) = false;
  /// The threads in WaitForRoom and Drain, and whether the pipeline's own thread waits for a batch.
  int waiting_ NEREID_GUARDED_BY(mutex_) = 0;
  bool parked_ NEREID_GUARDED_BY(mutex_) = false;
  bool stop_ NEREID_GUARDED_BY(mutex_) = false;
  ExecutionPace pace_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::python
