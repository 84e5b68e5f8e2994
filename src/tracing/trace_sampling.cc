// SPDX-License-Identifier: Apache-2.0
#include "tracing/trace_sampling.h"

#include <utility>

namespace nereid::tracing {
namespace {

// Traces are collected up to this size before they are written, so that not every trace costs a
// write.
constexpr size_t kMaxCollectedBytes = size_t{1} << 20;
// A numbered file is written before it has `log_frequency` traces if they exceed this size, which
// limits the memory.
constexpr size_t kMaxNumberedFileBytes = size_t{64} << 20;

}  // namespace

TraceSampling::TraceSampling(api::TraceSettings settings, std::shared_ptr<TraceFile> file)
    : settings_(std::move(settings)), file_(std::move(file)), left_(settings_.count) {}

TraceSampling::~TraceSampling() {
  if (!entries_.empty()) Write(std::move(entries_), settings_.log_frequency > 0);
}

api::TraceSettings TraceSampling::settings() const {
  api::TraceSettings now = settings_;
  now.count = left_.load(std::memory_order_relaxed);
  return now;
}

bool TraceSampling::MayTrace() const {
  if (settings_.level == 0) return false;
  return settings_.mode == api::TraceMode::kOpenTelemetry ||
         (settings_.rate != 0 && file_ != nullptr);
}

bool TraceSampling::Choose(bool is_wanted) {
  if (!MayTrace()) return false;
  // The order matters: requests that their clients want traced are counted, too.
  if (!TakeTurn() && !is_wanted) return false;
  chosen_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool TraceSampling::TakeTurn() {
  if (settings_.rate == 0) return false;
  if ((seen_.fetch_add(1, std::memory_order_relaxed) + 1) % settings_.rate != 0) return false;
  // Takes one of the remaining traces. A negative count is unlimited and is not changed.
  int32_t left = left_.load(std::memory_order_relaxed);
  while (left > 0 && !left_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {
  }
  return left != 0;
}

void TraceSampling::Collect(std::string entries) {
  std::string full;
  bool numbered = false;
  {
    const base::MutexLock lock(mutex_);
    ++collected_;
    ++traces_waiting_;
    if (!entries_.empty() && !entries.empty()) entries_ += ',';
    entries_ += entries;
    // When a limited count is used up, the traces are written as soon as the last one has arrived.
    // Traces arrive in any order, so the numbers of chosen and collected traces are compared.
    const bool is_last = left_.load(std::memory_order_relaxed) == 0 &&
                         collected_ == chosen_.load(std::memory_order_relaxed);
    const bool is_complete =
        settings_.log_frequency > 0 &&
        (traces_waiting_ >= settings_.log_frequency || entries_.size() >= kMaxNumberedFileBytes);
    const bool is_large = settings_.log_frequency == 0 && entries_.size() >= kMaxCollectedBytes;
    if (!is_last && !is_complete && !is_large) return;
    numbered = !is_large;
    full = std::exchange(entries_, {});
    traces_waiting_ = 0;
  }
  if (!full.empty()) Write(std::move(full), numbered);
}

void TraceSampling::Write(std::string entries, bool numbered) {
  if (numbered) {
    file_->WriteNumbered(std::move(entries));
  } else {
    file_->Append(std::move(entries));
  }
}

}  // namespace nereid::tracing
