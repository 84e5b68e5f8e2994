// SPDX-License-Identifier: Apache-2.0
#include "schedule/worker_threads.h"

#include <new>
#include <optional>

#include "base/threads.h"
#include "request/binding.h"

namespace nereid::schedule {

using base::MutexLock;
using base::Status;

namespace {

/// Returns the refusal of a request whose instance has no thread.
Refusal NoThread(RequestPtr request, const std::string& model, const Status& reason) noexcept {
  Status error;
  try {
    error = reason.WithPrefix(request->LogPrefix() + "model '" + model +
                              "' has not executed the request: ");
  } catch (const std::bad_alloc&) {
    error = Status::Unavailable("out of memory");  // short enough to need no memory itself
  }
  return {std::move(request), std::move(error), telemetry::FailureReason::kOther};
}

}  // namespace

base::Result<std::thread> WorkerThreads::Start(Worker& worker) noexcept {
  try {
    return base::StartThread(
        worker.instance.name, [this, &worker] { run_(worker); }, worker.instance.placement);
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("out of memory");  // the text of the error did not fit into memory
  }
}

Worker* WorkerThreads::StartAll(Worker* workers) {
  Worker* failed = nullptr;
  while (workers != nullptr) {
    Worker& worker = *std::exchange(workers, workers->next_unstarted);
    auto thread = Start(worker);
    if (!thread.ok()) {
      RefuseBatch(worker, thread.status());
      worker.next_unstarted = std::exchange(failed, &worker);
      continue;
    }
    // The worker may have run its batch, but it is not removed before the thread is noted.
    const MutexLock lock(mutex_);
    worker.thread = std::move(thread).value();
    worker.is_starting = false;
    worker_free_.NotifyAll();
  }
  return failed;
}

void WorkerThreads::RefuseBatch(Worker& worker, const Status& reason) {
  Batch batch;
  {
    const MutexLock lock(mutex_);
    batch = *std::exchange(worker.batch, std::nullopt);
  }
  for (RequestPtr& request : batch.requests) {
    refusals_.Send(NoThread(std::move(request), settings_.model_name, reason));
  }
}

void WorkerThreads::Free(Worker* workers, WorkerPool* pool) {
  while (workers != nullptr) {
    Worker& worker = *std::exchange(workers, workers->next_unstarted);
    worker.has_thread = worker.is_starting = false;
    pool->SetFree(worker);
    worker_free_.NotifyAll();
  }
}

}  // namespace nereid::schedule
