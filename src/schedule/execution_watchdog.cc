// SPDX-License-Identifier: Apache-2.0
#include "schedule/execution_watchdog.h"

#include <algorithm>
#include <utility>

#include "schedule/execution_messages.h"

namespace nereid::schedule {

std::string ExecutionWatchdog::Describe(const Worker& worker, uint64_t now_ns) const {
  return StuckMessage({model_name_, worker.instance.name}, now_ns - worker.busy_since_ns, limit_ns_,
                      /*taken_up=*/!worker.batch.has_value());
}

base::Status ExecutionWatchdog::Check(const WorkerPool& workers, uint64_t now_ns) const {
  if (limit_ns_ == 0) return base::Status::Ok();
  for (const auto& worker : workers.all()) {
    if (worker->IsStuck(now_ns, limit_ns_)) {
      return base::Status::Unavailable(Describe(*worker, now_ns));
    }
  }
  return base::Status::Ok();
}

std::vector<std::string> ExecutionWatchdog::Report(const WorkerPool& workers, uint64_t now_ns,
                                                   uint64_t* next_ns) const {
  *next_ns = kNever;
  std::vector<std::string> messages;
  for (const auto& worker : workers.all()) {
    if (worker->busy_since_ns == 0 || worker->reported_stuck) continue;
    if (worker->IsStuck(now_ns, limit_ns_)) {
      messages.push_back(Describe(*worker, now_ns));
      worker->reported_stuck = true;
    } else {
      *next_ns = std::min(*next_ns, worker->busy_since_ns + limit_ns_);
    }
  }
  return messages;
}

}  // namespace nereid::schedule
