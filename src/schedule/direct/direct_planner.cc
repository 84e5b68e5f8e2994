// SPDX-License-Identifier: Apache-2.0
#include "schedule/direct/direct_planner.h"

namespace nereid::schedule {

Decision DirectPlanner::Next(uint64_t now_ns, InstanceId /*instance*/,
                             std::vector<Refusal>* refused) {
  Decision decision;
  queue_.Expire(now_ns, refused);
  while (const RequestQueue::Waiting* first = queue_.First()) {
    if (first->request->IsCancelled()) {
      queue_.RefuseCancelled(*first, refused);
      continue;
    }
    Batch& batch = decision.batch.emplace();
    batch.requests.reserve(1);  // before the request leaves the queue
    batch.batch_size = first->batch_size;
    batch.oldest_arrival_ns = first->arrival_ns;
    batch.requests.push_back(queue_.Take(*first));
    batch.left_in_queue = queue_.size();
    break;
  }
  return decision;
}

}  // namespace nereid::schedule
