// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "model/model_version.h"
#include "rollout/rollout.h"
#include "rollout/shadow_traffic.h"

namespace nereid::server {

/// Reports to a rollout how the requests end that one version answers. One object may watch several
/// requests, if it has no pair. Thread-safe.
class RolloutWatch final : public model::SubmissionWatch {
 public:
  /// `pair` gets the answer to the request; null for most requests. `clock` must outlive the
  /// requests.
  RolloutWatch(std::shared_ptr<rollout::Rollout> rollout, int64_t version,
               std::shared_ptr<rollout::ShadowPair> pair, const base::Clock& clock)
      : rollout_(std::move(rollout)), version_(version), pair_(std::move(pair)), clock_(clock) {}

  void OnBound(request::InferenceRequest& request) override;
  void OnRefused(const base::Status& error) override;

 private:
  const std::shared_ptr<rollout::Rollout> rollout_;
  const int64_t version_;
  const std::shared_ptr<rollout::ShadowPair> pair_;
  const base::Clock& clock_;
};

}  // namespace nereid::server
