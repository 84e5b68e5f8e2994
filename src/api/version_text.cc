// SPDX-License-Identifier: Apache-2.0
#include "api/version_text.h"

#include <string>

#include "base/parse_number.h"
#include "rollout/rollout_plan.h"

namespace nereid::api {

base::Result<int64_t> ParseVersionText(std::string_view text) {
  if (text.empty()) return int64_t{-1};
  // Triton uses stol, which accepts a plus sign; ParseWhole does not.
  const auto version = base::ParseWhole<int64_t>(text.substr(text.starts_with('+') ? 1 : 0));
  if (!version) {
    return base::Status::InvalidArgument(
        "failed to get model version from specified version string '" + std::string(text) +
        "' (details: stol), version should be an integral value > 0");
  }
  if (*version < 0) {
    return base::Status::InvalidArgument("invalid model version specified '" + std::string(text) +
                                         "' , version should be an integral value > 0");
  }
  return *version;
}

bool IsVersionLabel(std::string_view text) { return rollout::IsLabel(text); }

}  // namespace nereid::api
