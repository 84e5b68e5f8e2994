// SPDX-License-Identifier: Apache-2.0
#include "config/version_policy.h"

#include <algorithm>

#include "base/parse_number.h"

namespace nereid::config {
namespace {

VersionSelection Select(const LatestVersions& policy, std::vector<int64_t> sorted) {
  const size_t surplus = sorted.size() - std::min<size_t>(policy.count, sorted.size());
  sorted.erase(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(surplus));
  return {std::move(sorted), {}};
}

VersionSelection Select(const AllVersions&, std::vector<int64_t> sorted) {
  return {std::move(sorted), {}};
}

VersionSelection Select(const SpecificVersions& policy, const std::vector<int64_t>& sorted) {
  VersionSelection selection;
  std::vector<int64_t> wanted = policy.versions;
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  for (const int64_t version : wanted) {
    const bool exists = std::binary_search(sorted.begin(), sorted.end(), version);
    (exists ? selection.versions : selection.missing).push_back(version);
  }
  return selection;
}

}  // namespace

std::optional<int64_t> ParseVersionDirectory(std::string_view name) {
  // "-1" is a number, and "010" would be the same version as "10".
  if (name.starts_with('-') || (name.starts_with('0') && name.size() > 1)) return std::nullopt;
  return base::ParseWhole<int64_t>(name);
}

std::string_view WhyNoVersion(std::string_view name) {
  if (name == "configs" || name == "warmup" || name == "initial_state") return {};
  if (name.size() > 1 && name.front() == '0') {
    return "contains leading zeros in its directory name";
  }
  if (ParseVersionDirectory(name)) return {};
  return "fails to convert to integral number";
}

VersionSelection SelectVersions(const VersionPolicy& policy, std::span<const int64_t> available) {
  std::vector<int64_t> sorted(available.begin(), available.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return std::visit([&](const auto& choice) { return Select(choice, std::move(sorted)); }, policy);
}

}  // namespace nereid::config
