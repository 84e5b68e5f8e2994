// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace nereid::api {

/// Returns the model version of a request's text: -1 (the version policy decides) for "", else a
/// decimal number, with which the text must end. Returns INVALID_ARGUMENT for other text, a
/// negative number or one that exceeds 64 bits.
base::Result<int64_t> ParseVersionText(std::string_view text);

/// Returns whether a request's text names a version by a label of the model's rollout.
bool IsVersionLabel(std::string_view text);

}  // namespace nereid::api
