// SPDX-License-Identifier: Apache-2.0
#include "repository/model_repositories.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/log.h"

namespace nereid::repository {

using base::Status;

Status CheckModelName(const std::string& name) {
  if (name.find_first_not_of(" \t") == std::string::npos) {
    return Status::InvalidArgument(
        "Model name cannot be empty. Please enter a valid name to deploy.");
  }
  if (!base::IsPlainName(name)) {
    return Status::InvalidArgument("invalid model name '" + name +
                                   "', model name must not contain path traversal characters");
  }
  return Status::Ok();
}

ModelRepositories::ModelRepositories(PollOptions options, bool namespacing)
    : options_(std::move(options)),
      namespacing_(namespacing),
      repositories_(PlainRepositories(options_.repositories)) {}

RepositoryList ModelRepositories::List() const {
  base::MutexLock lock(mutex_);
  return repositories_;
}

Status ModelRepositories::CheckRepository(const std::string& path) const {
  if (!IsUrl(path)) {
    if (base::IsDirectory(path)) return Status::Ok();
    return Status::InvalidArgument("failed to register '" + path + "', repository not found");
  }
  const auto listed = options_.storage->ListModels(path);
  if (listed.ok()) return Status::Ok();
  return Status::InvalidArgument("failed to register '" + path + "': " + listed.status().message());
}

Status ModelRepositories::Register(const std::string& path, const NameMapping& mapping) {
  NEREID_RETURN_IF_ERROR(CheckRepository(path));
  for (const auto& [model, directory] : mapping) {
    NEREID_RETURN_IF_ERROR(CheckModelName(model));
    if (!base::IsPlainName(directory)) {
      return Status::InvalidArgument("failed to register '" + path + "', model '" + model +
                                     "' is mapped to '" + directory +
                                     "', which is no name of a sub-directory");
    }
  }
  base::MutexLock lock(mutex_);
  if (!repositories_.emplace(path, mapping).second) {
    return Status::AlreadyExists("model repository '" + path + "' has already been registered");
  }
  return Status::Ok();
}

Status ModelRepositories::Unregister(const std::string& path) {
  base::MutexLock lock(mutex_);
  if (repositories_.erase(path) == 0) {
    return Status::InvalidArgument("failed to unregister '" + path + "', repository not found");
  }
  return Status::Ok();
}

RepositoryScan ModelRepositories::Scan() const {
  RepositoryScan scan = ScanRepositories(List(), *options_.storage);
  PreferMapped(namespacing_, &scan.directories);
  return scan;
}

std::vector<ModelDirectory> ModelRepositories::FindIn(const RepositoryList& list,
                                                      const std::string& name,
                                                      Status* unread) const {
  std::vector<ModelDirectory> found = FindModelDirectories(list, name, *options_.storage, unread);
  PreferMapped(namespacing_, &found);
  return found;
}

base::Result<std::vector<ModelDirectory>> ModelRepositories::Find(const std::string& name) const {
  NEREID_RETURN_IF_ERROR(CheckModelName(name));
  auto found = LookUp(name);
  if (!found.ok()) return PollFailure(name, found.status());
  return found;
}

base::Result<std::vector<ModelDirectory>> ModelRepositories::LookUp(const std::string& name) const {
  Status unread;
  std::vector<ModelDirectory> found = FindIn(List(), name, &unread);
  if (found.size() == 1 || (found.size() > 1 && namespacing_)) return found;
  if (found.size() > 1) return Status::Internal("not unique across all model repositories");
  return unread.ok() ? Status::NotFound("model not found in any model repository.")
                     : Status::Internal("cannot read a model repository: " + unread.message());
}

Status ModelRepositories::PlanLoad(const std::string& name,
                                   const std::shared_ptr<const LoadOverrides>& overrides,
                                   LoadJobs* jobs) const {
  NEREID_RETURN_IF_ERROR(CheckModelName(name));
  std::vector<ModelDirectory> directories{{name, ""}};
  if (overrides == nullptr || overrides->files.empty()) {
    auto found = LookUp(name);
    if (!found.ok()) {
      LOG_ERROR_OF(.model = name) << "failed to poll model '" << name
                                  << "': " << found.status().message();
      return PollFailure(name, found.status());
    }
    directories = std::move(found).value();
  }
  for (ModelDirectory& directory : directories) {
    PlanWithMembers({std::move(directory), overrides, {}, true}, jobs);
  }
  return Status::Ok();
}

std::vector<LoadJob> ModelRepositories::FindMembers(const LoadJob& caller,
                                                    const RepositoryList& list) const {
  std::vector<LoadJob> called;
  for (const std::string& member : caller.members) {
    if (!base::IsPlainName(member)) continue;
    std::vector<ModelDirectory> found = FindIn(list, member);
    const auto own = std::find_if(found.begin(), found.end(), [&](const ModelDirectory& d) {
      return namespacing_ && d.repository == caller.directory.repository;
    });
    if (own != found.end()) found = {ModelDirectory(*own)};
    // The load of the ensemble reports a member that is missing or in several repositories.
    if (found.size() == 1) called.push_back({std::move(found[0])});
  }
  return called;
}

void ModelRepositories::PlanWithMembers(LoadJob job, LoadJobs* jobs) const {
  const RepositoryList list = List();
  // `pending` grows during the loop: a member may be an ensemble with members of its own. Each
  // model is in it once, so the search also ends if ensembles call each other in a cycle.
  std::vector<LoadJob> pending;
  pending.push_back(std::move(job));
  for (size_t i = 0; i < pending.size(); ++i) {
    pending[i].members = ReadMembers(pending[i].directory, options_, pending[i].Overrides());
    for (LoadJob& member : FindMembers(pending[i], list)) {
      const auto is_member = [&](const LoadJob& other) {
        return IdOf(other.directory) == IdOf(member.directory);
      };
      if (std::none_of(pending.begin(), pending.end(), is_member)) {
        pending.push_back(std::move(member));
      }
    }
  }
  for (LoadJob& planned : pending) {
    const bool is_wanted = planned.is_wanted;
    const auto [place, is_new] = jobs->try_emplace(IdOf(planned.directory), std::move(planned));
    if (!is_new) place->second.is_wanted |= is_wanted;
  }
}

}  // namespace nereid::repository
