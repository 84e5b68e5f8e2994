// SPDX-License-Identifier: Apache-2.0
#include "tracing/trace_sampling.h"

#include <utility>

namespace nereid::tracing {
namespace {

// Bytes that are collected before they are written, so that rare traces do not each cost a write.
// The second limits the memory for one numbered file.
constexpr size_t kMostGathered = size_t{1} << 20;
constexpr size_t kMostInNumberedFile = size_t{64} << 20;

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

bool TraceSampling::Choose() {
  if (settings_.level == 0 || settings_.rate == 0 || file_ == nullptr) return false;
  if ((seen_.fetch_add(1, std::memory_order_relaxed) + 1) % settings_.rate != 0) return false;
  // A negative count is unlimited and is not changed.
  int32_t left = left_.load(std::memory_order_relaxed);
  while (left > 0 && !left_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {
  }
  if (left == 0) return false;
  chosen_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void TraceSampling::Collect(std::string entries) {
  std::string full;
  bool numbered = false;
  {
    const base::MutexLock lock(mutex_);
    ++collected_;
    ++gathered_;
    if (!entries_.empty() && !entries.empty()) entries_ += ',';
    entries_ += entries;
    // The last trace of a limited count is written at once; the traces that were chosen and are not
    // finished may come in any order.
    const bool exhausted = left_.load(std::memory_order_relaxed) == 0 &&
                           collected_ == chosen_.load(std::memory_order_relaxed);
    const bool enough = settings_.log_frequency > 0 && (gathered_ >= settings_.log_frequency ||
                                                        entries_.size() >= kMostInNumberedFile);
    const bool much = settings_.log_frequency == 0 && entries_.size() >= kMostGathered;
    if (!exhausted && !enough && !much) return;
    numbered = !much;
    full = std::exchange(entries_, {});
    gathered_ = 0;
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
