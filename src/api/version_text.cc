// SPDX-License-Identifier: Apache-2.0
#include "api/version_text.h"

#include <charconv>
#include <string>

#include "rollout/rollout_plan.h"

namespace nereid::api {

base::Result<int64_t> ParseVersionText(std::string_view text) {
  if (text.empty()) return int64_t{-1};
  int64_t version = 0;
  std::string_view digits = text;
  // Triton uses stol, which accepts a plus sign; from_chars does not.
  if (digits.front() == '+') digits.remove_prefix(1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (error != std::errc()) {
    return base::Status::InvalidArgument(
        "failed to get model version from specified version string '" + std::string(text) +
        "' (details: stol), version should be an integral value > 0");
  }
  if (version < 0) {
    return base::Status::InvalidArgument("invalid model version specified '" + std::string(text) +
                                         "' , version should be an integral value > 0");
  }
  return version;
}

bool IsVersionLabel(std::string_view text) { return rollout::IsLabel(text); }

}  // namespace nereid::api
