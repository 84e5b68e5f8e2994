// SPDX-License-Identifier: Apache-2.0
#include "repository/repository_index.h"

#include <algorithm>
#include <set>

namespace nereid::repository {

namespace {

constexpr const char* kDuplicateReason = "model appears in two or more repositories";

/// Returns a text without the line ends that Triton's messages have.
std::string OneLine(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

bool Shows(const IndexEntry& entry, VersionState state) {
  return entry.state == VersionStateText(state);
}

}  // namespace

std::vector<IndexEntry> ListIndex(const std::vector<ModelDirectory>& directories,
                                  const ModelTable& table, bool namespacing, bool ready_only) {
  const auto counts = CountById(directories, namespacing);
  std::vector<IndexEntry> entries;
  std::set<ModelId> seen;
  for (const ModelDirectory& directory : directories) {
    const ModelId id = IdOf(directory, namespacing);
    if (!seen.insert(id).second) continue;
    const VersionRecords* versions = table.FindVersions(id);
    if (counts.at(id) > 1) {
      if (!ready_only) entries.push_back({directory.name, "", "UNAVAILABLE", kDuplicateReason});
      continue;
    }
    if (versions == nullptr) {
      if (!ready_only) entries.push_back({directory.name, "", "", ""});
      continue;
    }
    for (const auto& [version, record] : *versions) {
      if (ready_only && record.state() != VersionState::kReady) continue;
      entries.push_back({directory.name, std::to_string(version),
                         std::string(VersionStateText(record.state())), record.reason()});
    }
  }
  return entries;
}

void AddFetchProgress(const std::vector<ModelDirectory>& directories,
                      const RepositoryStorage& storage, std::vector<IndexEntry>* entries) {
  for (const ModelDirectory& directory : directories) {
    const std::string progress = storage.FetchProgress(directory.path);
    if (progress.empty()) continue;
    const bool serves = std::any_of(entries->begin(), entries->end(), [&](const IndexEntry& entry) {
      return entry.name == directory.name && Shows(entry, VersionState::kReady);
    });
    for (IndexEntry& entry : *entries) {
      if (serves || entry.name != directory.name) continue;
      if (Shows(entry, VersionState::kUnloading) || entry.reason == kDuplicateReason) continue;
      entry.state = VersionStateText(VersionState::kLoading);
      entry.reason = progress;
    }
  }
}

void AddFailedReloads(const LoadBoard::Records& records, std::vector<IndexEntry>* entries) {
  for (IndexEntry& entry : *entries) {
    if (!Shows(entry, VersionState::kReady)) continue;
    const auto found = records.lower_bound({entry.name});
    if (found == records.end() || found->first.name != entry.name) continue;
    // With namespaces an entry does not tell of which model it is.
    if (!found->first.space.empty() || !found->second.HasFailed()) continue;
    entry.reason = "the last load has failed: " + OneLine(found->second.last->status.message());
  }
}

}  // namespace nereid::repository
