// SPDX-License-Identifier: Apache-2.0
#include "repository/model_table.h"

#include <algorithm>

namespace nereid::repository {

using base::Status;

namespace {

std::string Unknown(std::string_view model) {
  return "Request for unknown model: '" + std::string(model) + "'";
}

/// The records of unloaded versions stay in the table.
bool IsInUse(const VersionRecords& versions) {
  return std::any_of(versions.begin(), versions.end(), [](const auto& entry) {
    const VersionRecord& record = entry.second;
    return record.state() != VersionState::kUnloading &&
           (record.state() != VersionState::kUnavailable || record.reason() != kUnloadedReason);
  });
}

base::Result<std::shared_ptr<LoadedModel>> FindVersion(const ModelId& id,
                                                       const VersionRecords& records,
                                                       int64_t version) {
  const auto unknown = [&] { return Unknown(ToText(id)); };
  if (version < 0) {
    for (auto it = records.rbegin(); it != records.rend(); ++it) {
      if (it->second.state() == VersionState::kReady) return it->second.model();
    }
    return Status::NotFound(unknown() + " has no available versions");
  }
  const auto found = records.find(version);
  if (found == records.end()) {
    return Status::NotFound(unknown() + " version " + std::to_string(version) + " is not found");
  }
  if (found->second.state() != VersionState::kReady) {
    return Status::Unavailable(unknown() + " version " + std::to_string(version) +
                               " is not at ready state");
  }
  return found->second.model();
}

}  // namespace

base::Result<std::shared_ptr<LoadedModel>> ModelTable::Find(const ModelId& id,
                                                            int64_t version) const {
  const VersionRecords* const versions = models_.Find(id);
  if (versions == nullptr) return Status::NotFound(Unknown(ToText(id)) + " is not found");
  return FindVersion(id, *versions, version);
}

base::Result<std::shared_ptr<LoadedModel>> ModelTable::Find(std::string_view name,
                                                            int64_t version) const {
  if (namespacing_) {
    NEREID_ASSIGN_OR_RETURN(const ModelId id, Resolve(name));
    return Find(id, version);
  }
  const auto found = models_.LowerBound(name);
  if (found == models_.end() || found->first.name != name) {
    return Status::NotFound(Unknown(name) + " is not found");
  }
  return FindVersion(found->first, found->second, version);
}

std::vector<ModelId> ModelTable::InUse(std::string_view name) const {
  std::vector<ModelId> ids;
  for (auto it = models_.LowerBound(name); it != models_.end() && it->first.name == name; ++it) {
    if (IsInUse(it->second)) ids.push_back(it->first);
  }
  return ids;
}

base::Result<ModelId> ModelTable::Resolve(std::string_view name) const {
  if (!namespacing_) return ModelId{std::string(name)};
  std::vector<ModelId> ids = InUse(name);
  if (ids.size() == 1) return std::move(ids[0]);
  const std::string quoted = "'" + std::string(name) + "'";
  if (ids.empty()) {
    return Status::NotFound("Identifier of model " + quoted + " is not found in global map");
  }
  return Status::InvalidArgument("There are " + std::to_string(ids.size()) +
                                 " identifiers of model " + quoted +
                                 " in global map, model namespace must be provided to resolve "
                                 "ambiguity.");
}

const VersionRecords* ModelTable::FindVersions(const ModelId& id) const { return models_.Find(id); }

void ModelTable::VisitUnready(const std::function<bool(const UnreadyVersion&)>& visit) const {
  for (const auto& [id, versions] : models_) {
    if (versions.empty() && !visit({.id = id})) return;
    for (const auto& [version, record] : versions) {
      base::Status status;
      if (record.state() == VersionState::kReady) {
        status = record.model()->CheckReady();
        if (status.ok()) continue;
      } else if (record.reason() == kUnloadedReason) {
        continue;
      }
      if (!visit({id, version, &record, std::move(status)})) return;
    }
  }
}

bool ModelTable::AllReady() const {
  bool all = true;
  VisitUnready([&](const UnreadyVersion&) {
    all = false;
    return false;
  });
  return all;
}

}  // namespace nereid::repository
