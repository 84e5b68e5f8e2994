// SPDX-License-Identifier: Apache-2.0
#include "model/cpu/execution_threads.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace nereid::model {
namespace {

constexpr uint64_t kSmallestClassBytes = 4096;

/// Returns the smallest size of a class.
uint64_t FloorOf(size_t size_class) {
  return size_class == 0 ? kSmallestClassBytes : kSmallestClassBytes << (size_class - 1);
}

}  // namespace

ExecutionThreads::ExecutionThreads(MachineLoad& load, const base::Clock& clock,
                                   std::vector<int> ladder, Prepare prepare)
    : load_(load), clock_(clock), ladder_(std::move(ladder)), prepare_(std::move(prepare)) {
  curves_.fill(ThreadCurve(ladder_.size()));
  prepared_ = RungSet::Below(prepare_ == nullptr ? ladder_.size() : 1);
}

std::unique_ptr<ExecutionThreads> ExecutionThreads::Changing(MachineLoad& load,
                                                             const base::Clock& clock, int most,
                                                             Prepare prepare) {
  return std::unique_ptr<ExecutionThreads>(
      new ExecutionThreads(load, clock, ThreadLadder(most), std::move(prepare)));
}

std::unique_ptr<ExecutionThreads> ExecutionThreads::Fixed(MachineLoad& load,
                                                          const base::Clock& clock, int threads) {
  return std::unique_ptr<ExecutionThreads>(
      new ExecutionThreads(load, clock, {std::max(1, threads)}, nullptr));
}

size_t ExecutionThreads::Allowed(int threads) const {
  const auto above = std::upper_bound(ladder_.begin(), ladder_.end(), threads);
  return above == ladder_.begin() ? 0 : static_cast<size_t>(above - ladder_.begin()) - 1;
}

std::optional<ExecutionThreads::Execution> ExecutionThreads::Begin(uint64_t input_bytes,
                                                                   uint32_t& skipped) noexcept {
  Execution execution;
  execution.size_class = std::min<size_t>(
      static_cast<size_t>(std::bit_width(input_bytes / kSmallestClassBytes)), kSizeClasses - 1);
  if (short_[execution.size_class].load(std::memory_order_relaxed) &&
      ++skipped % kMeasureOneOf != 0) {
    return std::nullopt;
  }
  execution.weight = std::max(
      1.0, static_cast<double>(input_bytes) / static_cast<double>(FloorOf(execution.size_class)));
  execution.begin_ns = clock_.NowNs();
  const size_t allowed = Allowed(load_.Permitted(execution.begin_ns));
  std::optional<size_t> to_prepare;
  {
    const base::MutexLock lock(mutex_);
    last_ = curves_[execution.size_class].Choose(allowed, prepared_, failed_, execution.begin_ns);
    last_class_ = execution.size_class;
    execution.rung = last_.rung;
    ++executions_[execution.rung];
    if (last_.prepare && !std::exchange(preparing_, true)) to_prepare = last_.prepare;
  }
  if (to_prepare) StartPreparation(*to_prepare);
  execution.threads = ladder_[execution.rung];
  execution.turn = load_.Begin(execution.threads, execution.begin_ns);
  return execution;
}

void ExecutionThreads::End(const Execution& execution) {
  const uint64_t now_ns = clock_.NowNs();
  const bool undisturbed = load_.End(execution.turn, now_ns);
  const uint64_t elapsed_ns = now_ns - execution.begin_ns;
  // One that was short although it was disturbed is short.
  if (!undisturbed && elapsed_ns >= ThreadCurve::kWorthNs) return;
  const auto elapsed = static_cast<double>(elapsed_ns);
  const base::MutexLock lock(mutex_);
  ThreadCurve& curve = curves_[execution.size_class];
  curve.Record(execution.rung, static_cast<uint64_t>(elapsed / execution.weight), now_ns);
  short_[execution.size_class].store(curve.IsShort(), std::memory_order_relaxed);
}

void ExecutionThreads::StartPreparation(size_t rung) {
  // One at a time in the server: each takes a CPU and memory.
  if (load_.BeginPreparation()) {
    if (TryPrepare(rung)) return;
    load_.EndPreparation();
  }
  const base::MutexLock lock(mutex_);
  preparing_ = false;  // a later execution tries again
}

bool ExecutionThreads::TryPrepare(size_t rung) {
  try {
    return prepare_(ladder_[rung],
                    [this, rung](const base::Status& result) {
                      load_.EndPreparation();
                      OnPrepared(rung, result);
                    })
        .ok();
  } catch (const std::bad_alloc&) {
    return false;  // the execution matters more
  }
}

void ExecutionThreads::OnPrepared(size_t rung, const base::Status& status) {
  const base::MutexLock lock(mutex_);
  preparing_ = false;
  (status.ok() ? prepared_ : failed_).Add(rung);
}

void ExecutionThreads::AddTo(telemetry::ModelStatistics* total) const {
  const base::MutexLock lock(mutex_);
  auto& threads = total->cpu_threads.emplace();
  threads.last = ladder_[last_.rung];
  threads.reason = ThreadReasonLabel(last_.reason);
  for (size_t rung = 0; rung < ladder_.size(); ++rung) {
    threads.by_number.push_back(
        {ladder_[rung], executions_[rung], curves_[last_class_].MeanNs(rung)});
  }
}

}  // namespace nereid::model
