// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rollout/rollout_plan.h"
#include "rollout/rollout_status.h"

namespace nereid::api {

/// What a label is looked up for. After a rollback, inference may be redirected.
enum class LabelUse { kDescription, kInference };

/// The rollouts of models. Thread-safe; no function blocks.
class RolloutControl {
 public:
  virtual ~RolloutControl() = default;

  /// Begins a rollout, which replaces that of the model. Returns INVALID_ARGUMENT for a plan that
  /// is wrong, which names the field, and NOT_FOUND for an unknown model.
  virtual base::Status Set(const std::string& model, rollout::RolloutPlan plan) = 0;
  /// Returns NOT_FOUND for a model without a rollout.
  virtual base::Result<rollout::RolloutStatus> Get(const std::string& model) const = 0;
  /// Ends a rollout. Sequences that are open stay on their versions. Returns NOT_FOUND for a model
  /// without a rollout.
  virtual base::Status Remove(const std::string& model) = 0;
  /// Returns the version of a label, or -1 if requests for it go where requests without a version
  /// go. Returns NOT_FOUND, with the labels that exist, for an unknown one.
  virtual base::Result<int64_t> FindLabel(const std::string& model, std::string_view label,
                                          LabelUse use) const = 0;
  /// Returns whether the model has a rollout.
  virtual bool Has(std::string_view model) const = 0;
};

}  // namespace nereid::api
