// SPDX-License-Identifier: Apache-2.0
#include "server/server_phase.h"

#include <utility>

namespace nereid::server {

using base::Status;

void ServerPhase::Fail(std::string reason) {
  {
    const base::MutexLock lock(mutex_);
    failure_ = std::move(reason);
  }
  Replace(Value::kServing, Value::kFailed);
}

std::string ServerPhase::failure() const {
  const base::MutexLock lock(mutex_);
  return failure_;
}

void ServerPhase::BeginEnding() {
  Value value = Get();
  while (value < Value::kEnding && !value_.compare_exchange_weak(value, Value::kEnding)) {
  }
}

Status ServerPhase::CheckServing() const {
  return Get() == Value::kServing ? Status::Ok() : Status::Unavailable("Server not ready");
}

base::Result<bool> ServerPhase::IsLive() const {
  const Value value = Get();
  if (value == Value::kStopping) return Status::Unavailable("Server exiting");
  return value != Value::kFailed;
}

}  // namespace nereid::server
