// SPDX-License-Identifier: Apache-2.0
#include "schedule/dynamic/lone_requests.h"

#include <algorithm>

namespace nereid::schedule {

void LoneRequests::OnDelayExpired(size_t requests) {
  if (requests > 1) return OnOtherBatch(requests);
  skips_ = std::clamp(skips_ * 2, uint32_t{1}, kMaxSkips);
  skips_left_ = skips_;
}

}  // namespace nereid::schedule
