// SPDX-License-Identifier: Apache-2.0
#include "config/version_policy.h"

#include <algorithm>
#include <charconv>

namespace nereid::config {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

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
  // The reserved names begin with letters, so this check excludes them.
  if (name.empty() || !IsDigit(name.front())) return std::nullopt;
  // "010" and "10" would be the same version.
  if (name.front() == '0' && name.size() > 1) return std::nullopt;
  int64_t version = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), version);
  if (parsed.ec != std::errc()) return std::nullopt;
  return version;
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
