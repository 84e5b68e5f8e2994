// SPDX-License-Identifier: Apache-2.0
// Sources: sections "Version Policy" of Triton's model_configuration.md and "Model Versions" of
// model_repository.md; the messages are those of the log of Triton 2.51.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/model_config.h"

namespace nereid::config {

/// Returns the version number of a model's subdirectory, whose name is the number as it is printed:
/// digits alone, without leading zeros. Returns nothing for all other names ("1_old", "010",
/// "configs") and for numbers above int64.
std::optional<int64_t> ParseVersionDirectory(std::string_view name);

/// Returns why a subdirectory is not a version, in Triton's words: "contains leading zeros in its
/// directory name" or "fails to convert to integral number". Empty for reserved names and for
/// versions.
std::string_view WhyNoVersion(std::string_view name);

struct VersionSelection {
  /// In ascending order, without duplicates.
  std::vector<int64_t> versions;
  /// Listed by a specific policy but not available; callers log them.
  std::vector<int64_t> missing;
};

/// Returns the available versions that the policy serves. `available` may be in any order.
VersionSelection SelectVersions(const VersionPolicy& policy, std::span<const int64_t> available);

}  // namespace nereid::config
