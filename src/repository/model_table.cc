// SPDX-License-Identifier: Apache-2.0
#include "repository/model_table.h"

#include <algorithm>

namespace nereid::repository {

using base::Status;

std::string_view VersionStateText(VersionState state) {
  switch (state) {
    case VersionState::kLoading:
      return "LOADING";
    case VersionState::kReady:
      return "READY";
    case VersionState::kUnloading:
      return "UNLOADING";
    case VersionState::kUnavailable:
      return "UNAVAILABLE";
  }
  return "UNKNOWN";
}

bool HasReadyVersion(const VersionRecords* versions) {
  return versions != nullptr &&
         std::any_of(versions->begin(), versions->end(), [](const auto& record) {
           return record.second.state == VersionState::kReady;
         });
}

base::Result<std::shared_ptr<LoadedModel>> ModelTable::Find(std::string_view name,
                                                            int64_t version) const {
  const auto unknown = [&] { return "Request for unknown model: '" + std::string(name) + "'"; };
  const VersionRecords* versions = FindVersions(name);
  if (versions == nullptr) return Status::NotFound(unknown() + " is not found");
  if (version < 0) {
    for (auto it = versions->rbegin(); it != versions->rend(); ++it) {
      if (it->second.state == VersionState::kReady) return it->second.model;
    }
    return Status::NotFound(unknown() + " has no available versions");
  }
  const auto found = versions->find(version);
  if (found == versions->end()) {
    return Status::NotFound(unknown() + " version " + std::to_string(version) + " is not found");
  }
  if (found->second.state != VersionState::kReady) {
    return Status::Unavailable(unknown() + " version " + std::to_string(version) +
                               " is not at ready state");
  }
  return found->second.model;
}

const VersionRecords* ModelTable::FindVersions(std::string_view name) const {
  const auto found = models_.find(name);
  return found == models_.end() ? nullptr : &found->second;
}

}  // namespace nereid::repository
