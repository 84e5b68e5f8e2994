// SPDX-License-Identifier: Apache-2.0
#include "schedule/batch_executor.h"

#include <algorithm>
#include <new>

#include "base/log.h"
#include "schedule/execution_messages.h"

namespace nereid::schedule {
namespace {

/// Makes a report, unless memory is short: executions matter more than reports about them.
template <typename Report>
void TryReport(const Report& report) {
  try {
    report();
  } catch (const std::bad_alloc&) {
  }
}

/// Returns whether all requests may run where they arrive. Executing tensors in GPU memory may wait
/// for copies.
bool MayRunInline(const Batch& batch) {
  return std::all_of(batch.requests.begin(), batch.requests.end(), [](const RequestPtr& request) {
    return request == nullptr || (request->may_run_inline && !request->has_gpu_memory);
  });
}

}  // namespace

uint64_t InputBytes(const Batch& batch) {
  uint64_t bytes = 0;
  for (const RequestPtr& request : batch.requests) {
    if (request != nullptr) bytes += request->inputs().ByteSize();
  }
  return bytes;
}

bool BatchExecutor::TakeInline(uint64_t now_ns, Assignment* assignment, InlineBatch* taken) const {
  if (!assignment->batch || !MayRunInline(*assignment->batch)) return false;
  Worker* const worker = assignment->worker;
  taken->input_bytes = InputBytes(*assignment->batch);
  if (!inline_policy_.RunInline(taken->input_bytes, now_ns)) return false;
  if (!worker->instance.runner->HasRoom()) return false;
  // The worker is busy, so no other thread uses it until Finish. Its thread sleeps on.
  worker->is_inline = true;
  taken->worker = worker;
  taken->batch = std::move(*assignment->batch);
  assignment->batch.reset();
  return true;
}

void BatchExecutor::Announce(const Worker& worker, const Batch& batch, uint64_t now_ns,
                             uint64_t wait_ns) const {
  LOG_VERBOSE(1) << "model '" << model_name_ << "', instance '" << worker.instance.name
                 << "': batch of " << batch.requests.size() << " request(s), size "
                 << batch.batch_size << ": " << BatchReasonText(batch.reason)
                 << "; the oldest waited " << wait_ns / 1000 << " us, " << batch.left_in_queue
                 << " left in the queue";
  TraceBatch(batch, now_ns);
  observer_.OnBatchClosed(batch.reason, batch.requests.size(), batch.batch_size);
}

void BatchExecutor::Run(Worker& worker, Batch batch, uint64_t input_bytes) {
  const uint64_t start = clock_.NowNs();
  const uint64_t wait = start - std::min(start, batch.oldest_arrival_ns);
  const uint64_t batch_size = batch.batch_size;
  batch.input_bytes = input_bytes;
  // An execution that waits for others says nothing about those that run inline: these never wait.
  const bool has_room = worker.is_inline || worker.instance.runner->HasRoom();
  TryReport([&] { Announce(worker, batch, start, wait); });
  if (!batch.requests.empty()) worker.instance.runner->Run(std::move(batch));
  const uint64_t end = clock_.NowNs();
  const uint64_t elapsed = end - start;
  if (has_room) inline_policy_.Record(input_bytes, elapsed, end);
  worker.executed_size = batch_size;
  worker.executed_wait_ns = wait;
  worker.executed_ns = elapsed;
  if (limit_ns_ != 0 && elapsed >= limit_ns_) {
    TryReport([&] {
      LOG_WARNING << LateEndMessage({model_name_, worker.instance.name}, elapsed, limit_ns_);
    });
  }
}

void BatchExecutor::WarnOfOverrun(const Worker& worker) const {
  if (worker.executed_ns < InlinePolicy::kOverrunNs) return;
  if (inline_policy_.mode() != InlineMode::kAuto) return;  // the operator asked for inline running
  TryReport([&] { LOG_WARNING << HeldLoopMessage(model_name_, worker.executed_ns); });
}

}  // namespace nereid::schedule
