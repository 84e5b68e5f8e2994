// SPDX-License-Identifier: Apache-2.0
#include "schedule/batch.h"

namespace nereid::schedule {

std::string_view BatchReasonText(BatchReason reason) {
  switch (reason) {
    case BatchReason::kSingle:
      return "single request";
    case BatchReason::kPreferred:
      return "preferred size reached";
    case BatchReason::kFull:
      return "next request would exceed max_batch_size";
    case BatchReason::kShape:
      return "next request has other shapes or inputs";
    case BatchReason::kDelayExpired:
      return "max_queue_delay expired";
    case BatchReason::kNoDelay:
      return "instance free and no delay configured";
  }
  return "unknown";
}

}  // namespace nereid::schedule
