// SPDX-License-Identifier: Apache-2.0
#include "schedule/batch.h"

namespace nereid::schedule {
namespace {

struct ReasonWords {
  std::string_view label;
  std::string_view text;
};

// In the order of BatchReason.
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
}};

}  // namespace

std::string_view BatchReasonText(BatchReason reason) {
  return kWords[static_cast<size_t>(reason)].text;
}

std::string_view BatchReasonLabel(BatchReason reason) {
  return kWords[static_cast<size_t>(reason)].label;
}

}  // namespace nereid::schedule
