// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/shared_readiness.h"

#include <utility>

#include "frontend/http2/exception_guard.h"

namespace nereid::frontend::grpc {

bool SharedReadiness::Ask(base::BlockingWorkers& workers, Tell tell) {
  const base::MutexLock lock(mutex_);
  waiting_.push_back(std::move(tell));
  if (waiting_.size() > 1 || workers.Run([this] { Answer(); })) return true;
  waiting_.clear();
  return false;
}

void SharedReadiness::Answer() {
  const bool ready = http2::Guarded("gRPC: a call", false, [this] {
    const base::Result<bool> answer = service_.IsServerReady();
    return answer.ok() && *answer;
  });
  std::vector<Tell> waiting;
  {
    const base::MutexLock lock(mutex_);
    waiting.swap(waiting_);
  }
  for (const Tell& tell : waiting) tell(ready);
}

}  // namespace nereid::frontend::grpc
