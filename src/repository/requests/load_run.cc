// SPDX-License-Identifier: Apache-2.0
#include "repository/requests/load_run.h"

#include <utility>

namespace nereid::repository {

using base::Status;

const char* LoadStageName(LoadStage stage) {
  switch (stage) {
    case LoadStage::kSettling:
      return "settling";
    case LoadStage::kReading:
      return "reading";
    case LoadStage::kLoading:
      return "loading";
  }
  return "";
}

Status LoadRun::Check() const {
  constexpr uint64_t kSecondNs = 1'000'000'000;
  if (is_cancelled_) return Status::Cancelled("the load was cancelled");
  const uint64_t timeout_ns = timeout_ns_;
  if (timeout_ns == 0 || ElapsedNs() < timeout_ns) return Status::Ok();
  return Status::Unavailable("the load has not ended within " +
                             std::to_string(timeout_ns / kSecondNs) +
                             " s (--model-load-timeout-secs, or load_timeout_secs of the model)");
}

void LoadRun::SetReason(std::string reason) {
  base::MutexLock lock(mutex_);
  reason_ = std::move(reason);
}

std::string LoadRun::Reason() const {
  base::MutexLock lock(mutex_);
  return reason_;
}

void LoadRun::SetPosition(LoadPosition position) {
  base::MutexLock lock(mutex_);
  position_ = std::move(position);
}

LoadPosition LoadRun::Position() const {
  base::MutexLock lock(mutex_);
  return position_;
}

}  // namespace nereid::repository
