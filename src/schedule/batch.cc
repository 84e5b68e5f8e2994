// SPDX-License-Identifier: Apache-2.0
#include "schedule/batch.h"

#include <algorithm>
#include <string>

namespace nereid::schedule {
namespace {

struct ReasonWords {
  std::string_view label;
  std::string_view text;
};

// Indexed by BatchReason.
constexpr std::array<ReasonWords, kBatchReasonCount> kWords = {{
    {"single", "single request"},
    {"preferred", "preferred size reached"},
    {"preferred_passed", "next request would pass the largest preferred size"},
    {"full", "max_batch_size reached or exceeded by the next request"},
    {"shape", "next request has other shapes or inputs"},
    {"delay", "max_queue_delay expired"},
    {"deadline", "a request would have timed out by waiting longer"},
    {"no_delay", "instance free and no delay configured"},
    {"objective", "waiting longer would not serve the latency objective"},
    {"ready_slots", "instance free, every slot that has a request"},
    {"utilization", "minimum_slot_utilization reached"},
    {"alone", "the request is alone, and no other one is expected to join it"},
    {"strategy", "the batching library leaves the next request out"},
}};

}  // namespace

std::string_view BatchReasonText(BatchReason reason) {
  return kWords[static_cast<size_t>(reason)].text;
}

std::string_view BatchReasonLabel(BatchReason reason) {
  return kWords[static_cast<size_t>(reason)].label;
}

void TraceBatch(const Batch& batch, uint64_t now_ns) {
  if (batch.reason == BatchReason::kSingle) return;
  for (const RequestPtr& request : batch.requests) {
    request::Trace* const trace = request == nullptr ? nullptr : request->trace();
    if (trace == nullptr || !trace->wants_timestamps()) continue;
    const uint64_t oldest_ns = now_ns - std::min(now_ns, batch.oldest_arrival_ns);
    const uint64_t own_ns = now_ns - std::min(now_ns, request->times.queue_ns);
    trace->ReportCustom("BATCH_CLOSED: " + std::string(BatchReasonText(batch.reason)) + "; " +
                            std::to_string(batch.requests.size()) + " request(s) of size " +
                            std::to_string(batch.batch_size) + "; waited " +
                            std::to_string(own_ns / 1000) + " us, the oldest " +
                            std::to_string(oldest_ns / 1000) + " us",
                        now_ns);
  }
}

}  // namespace nereid::schedule
