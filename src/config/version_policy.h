// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/model_config.h"

namespace nereid::config {

/// The version that a sub-directory of a model stands for: its leading digits. Nothing for the
/// reserved names (configs, warmup, initial_state), for names that do not begin with a digit, for
/// leading zeros ("010"; "0" itself is a version) and for numbers beyond int64.
std::optional<int64_t> ParseVersionDirectory(std::string_view name);

/// Why a sub-directory stands for no version, in Triton's words: "contains leading zeros in its
/// directory name" or "fails to convert to integral number". Empty for the reserved names, and for
/// those that ParseVersionDirectory reads.
std::string_view WhyNoVersion(std::string_view name);

struct VersionSelection {
  /// Ascending, without repetitions.
  std::vector<int64_t> versions;
  /// Listed by a specific policy, but not available; worth a line in the log.
  std::vector<int64_t> missing;
};

/// Which of the available versions (in any order) the policy serves.
VersionSelection SelectVersions(const VersionPolicy& policy, std::span<const int64_t> available);

}  // namespace nereid::config
