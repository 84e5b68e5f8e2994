// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rollout/rollout_plan.h"
#include "rollout/rollout_status.h"

namespace nereid::codec::json {

/// Reads a plan; docs/user/rollouts.md describes the document. The plan is not complete yet (see
/// rollout::CompletePlan). Returns INVALID_ARGUMENT for an unknown field or a value of the wrong
/// type, with the field, the value and what was expected.
base::Result<rollout::RolloutPlan> DecodeRolloutPlan(std::string_view json);

/// Returns the document of a rollout. Its member "plan" can be decoded again.
std::string EncodeRolloutStatus(const rollout::RolloutStatus& status);

}  // namespace nereid::codec::json
