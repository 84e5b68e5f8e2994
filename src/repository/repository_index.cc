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

/// Returns the record of a model, or null. With namespaces an entry does not tell of which model it
/// is, so there is none.
const LoadRecord* FindRecord(const LoadBoard::Records& records, const std::string& name) {
  const auto found = records.lower_bound({name});
  if (found == records.end() || found->first.name != name) return nullptr;
  return found->first.space.empty() ? &found->second : nullptr;
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
    if (versions == nullptr || versions->empty()) {
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

void AddFailedLoads(const LoadBoard::Records& records, std::vector<IndexEntry>* entries) {
  for (IndexEntry& entry : *entries) {
    if (!entry.state.empty()) continue;
    const LoadRecord* const record = FindRecord(records, entry.name);
    if (record == nullptr || !record->HasFailed()) continue;
    entry.state = VersionStateText(VersionState::kUnavailable);
    entry.reason = OneLine(record->last->reason);
  }
}

void AddFailedReloads(const LoadBoard::Records& records, std::vector<IndexEntry>* entries) {
  for (IndexEntry& entry : *entries) {
    if (!Shows(entry, VersionState::kReady)) continue;
    const LoadRecord* const record = FindRecord(records, entry.name);
    if (record == nullptr || !record->HasFailed()) continue;
    entry.reason = "the last load has failed: " + OneLine(record->last->status.message());
  }
}

}  // namespace nereid::repository
