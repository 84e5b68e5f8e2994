// SPDX-License-Identifier: Apache-2.0
#include "server/server_phase.h"

namespace nereid::server {

using base::Status;

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
