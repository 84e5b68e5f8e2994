// SPDX-License-Identifier: Apache-2.0
#include "repository/remote_storage.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "repository/config_file.h"
#include "repository/settle/mix.h"

namespace nereid::repository {

using base::Status;
using base::StatusCode;
using storage::ObjectInfo;

namespace {

constexpr int kMaxConfigReads = 3;  // if the configuration is written again in between

std::string WithoutSlashes(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

/// Divides the path of a model into its repository and the name of its directory. The repository
/// may have a query with '/' in it; the name has no '/'.
std::pair<std::string, std::string> Divide(const std::string& model) {
  const size_t slash = model.rfind('/');
  return {model.substr(0, slash), slash == std::string::npos ? "" : model.substr(slash + 1)};
}

/// Adds an object to the fingerprint of its model, by its path below the model. The hashes of the
/// objects below an entry are added, so their order does not matter.
void AddObject(const std::string& path, const ObjectInfo& object, FileState* state) {
  const uint64_t name = std::hash<std::string>{}(path);
  const uint64_t version = std::hash<std::string>{}(object.version);
  state->entries[path.substr(0, path.find('/'))] += Mix(Mix(Mix(0, name), object.size), version);
}

FileState StateOf(const std::vector<ObjectInfo>& objects, const std::string& prefix) {
  FileState state;
  for (const ObjectInfo& object : objects) {
    AddObject(object.key.substr(prefix.size()), object, &state);
  }
  return state;
}

}  // namespace

const mirror::ModelMirror* RemoteStorage::UsedMirror() const {
  base::MutexLock lock(mutex_);
  return mirror_.get();
}

base::Result<mirror::ModelMirror*> RemoteStorage::Mirror() {
  base::MutexLock lock(mutex_);
  if (mirror_ == nullptr) {
    NEREID_ASSIGN_OR_RETURN(mirror_, open_mirror_());
  }
  return mirror_.get();
}

base::Result<std::shared_ptr<RemoteStorage::Repository>> RemoteStorage::Open(
    const std::string& url) {
  const std::string key = WithoutSlashes(url);
  {
    base::MutexLock lock(mutex_);
    const auto found = repositories_.find(key);
    if (found != repositories_.end()) return found->second;
  }
  NEREID_ASSIGN_OR_RETURN(storage::OpenedObjectStore opened, open_store_(url));
  auto repository = std::make_shared<Repository>();
  repository->store = std::move(opened.store);
  repository->name = WithoutSlashes(std::move(opened.name));
  repository->prefix = opened.prefix.empty() ? "" : opened.prefix + "/";
  base::MutexLock lock(mutex_);
  return repositories_.emplace(key, std::move(repository)).first->second;
}

base::Result<mirror::RemoteModel> RemoteStorage::Locate(const std::string& model) {
  const auto [url, name] = Divide(model);
  if (!base::IsPlainName(name)) {
    return Status::InvalidArgument("'" + name + "' is no name of a model");
  }
  NEREID_ASSIGN_OR_RETURN(const auto repository, Open(url));
  return mirror::RemoteModel{*repository->store, repository->name, repository->prefix + name + "/",
                             repository->name + "/" + name};
}

base::Result<std::vector<std::string>> RemoteStorage::ListModels(const std::string& repository) {
  NEREID_ASSIGN_OR_RETURN(const auto opened, Open(repository));
  NEREID_ASSIGN_OR_RETURN(const mirror::ModelMirror* mirror, Mirror());
  NEREID_ASSIGN_OR_RETURN(
      std::vector<std::string> names,
      mirror->Brief(*opened->store).ListDirectories(opened->prefix, mirror->is_cancelled()));
  std::erase_if(names, [&](const std::string& name) {
    if (base::IsPlainName(name) && name.find('\0') == std::string::npos) return false;
    LOG_WARNING << "the directory '" << name << "' of the model repository '" << opened->name
                << "' is ignored: its name is not allowed";
    return true;
  });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

base::Result<bool> RemoteStorage::HasModel(const std::string& model) {
  NEREID_ASSIGN_OR_RETURN(const mirror::RemoteModel located, Locate(model));
  NEREID_ASSIGN_OR_RETURN(const mirror::ModelMirror* mirror, Mirror());
  return mirror->Brief(located.store).HasObjects(located.prefix, mirror->is_cancelled());
}

base::Result<FileState> RemoteStorage::ReadState(const std::string& model) {
  NEREID_ASSIGN_OR_RETURN(const mirror::RemoteModel located, Locate(model));
  NEREID_ASSIGN_OR_RETURN(const mirror::ModelMirror* mirror, Mirror());
  FileState state;
  bool is_there = false;
  NEREID_RETURN_IF_ERROR(
      mirror->Brief(located.store)
          .ListAll(located.prefix, mirror->is_cancelled(), [&](const auto& object) {
            is_there = true;
            AddObject(object.key.substr(located.prefix.size()), object, &state);
            return Status::Ok();
          }));
  if (is_there) return state;
  return Status::NotFound("there is no object of the model '" + located.name + "'");
}

base::Result<std::optional<RepositoryStorage::States>> RemoteStorage::ReadAllStates(
    const std::string& repository) {
  NEREID_ASSIGN_OR_RETURN(const auto opened, Open(repository));
  NEREID_ASSIGN_OR_RETURN(const mirror::ModelMirror* mirror, Mirror());
  States states;
  NEREID_RETURN_IF_ERROR(
      mirror->Brief(*opened->store)
          .ListAll(opened->prefix, mirror->is_cancelled(), [&](const auto& object) {
            const std::string path = object.key.substr(opened->prefix.size());
            const size_t slash = path.find('/');
            if (slash == std::string::npos) return Status::Ok();  // not below a model
            AddObject(path.substr(slash + 1), object,
                      &states[base::JoinPath(repository, path.substr(0, slash))]);
            return Status::Ok();
          }));
  return std::optional(std::move(states));
}

base::Result<std::optional<ConfigText>> RemoteStorage::ReadConfig(const std::string& model,
                                                                  const std::string& config_name) {
  NEREID_ASSIGN_OR_RETURN(const mirror::RemoteModel located, Locate(model));
  NEREID_ASSIGN_OR_RETURN(mirror::ModelMirror * mirror, Mirror());
  const std::string plain = located.prefix + "config.pbtxt";
  const std::string named = located.prefix + "configs/" + config_name + ".pbtxt";
  for (int i = 0; i < kMaxConfigReads; ++i) {
    std::optional<ObjectInfo> config;
    NEREID_RETURN_IF_ERROR(mirror->Brief(located.store)
                               .ListAll(located.prefix + "config", mirror->is_cancelled(),
                                        [&](const ObjectInfo& object) {
                                          const bool is_named =
                                              !config_name.empty() && object.key == named;
                                          if (is_named || (object.key == plain && !config)) {
                                            config = object;
                                          }
                                          return Status::Ok();
                                        }));
    if (!config) return std::optional<ConfigText>();
    if (config->size > kMaxConfigFileBytes) {
      return Status::InvalidArgument("the object '" + config->key + "' has " +
                                     std::to_string(config->size) + " bytes, more than the " +
                                     std::to_string(kMaxConfigFileBytes) + " allowed");
    }
    auto text = mirror->ReadObject(located, *config);
    if (text.ok()) {
      return std::optional(ConfigText{
          std::move(text).value(), located.name + config->key.substr(located.prefix.size() - 1)});
    }
    if (text.status().code() != StatusCode::kAlreadyExists) return text.status();
  }
  return Status::Unavailable("the configuration of '" + located.name +
                             "' is written again and again");
}

base::Result<LocalFiles> RemoteStorage::Fetch(const std::string& model) {
  NEREID_ASSIGN_OR_RETURN(const mirror::RemoteModel located, Locate(model));
  NEREID_ASSIGN_OR_RETURN(mirror::ModelMirror * mirror, Mirror());
  NEREID_ASSIGN_OR_RETURN(mirror::ModelCopy copy, mirror->Copy(located));
  return LocalFiles{copy.checkout->path(), StateOf(copy.objects, located.prefix), copy.checkout};
}

std::string RemoteStorage::FetchProgress(const std::string& model) const {
  const mirror::ModelMirror* mirror = UsedMirror();
  if (mirror == nullptr) return "";
  const auto [url, name] = Divide(model);
  std::string board_name;
  {
    base::MutexLock lock(mutex_);
    const auto found = repositories_.find(WithoutSlashes(url));
    if (found == repositories_.end()) return "";
    board_name = found->second->name + "/" + name;
  }
  const auto progress = mirror->board().Find(board_name);
  return progress == nullptr ? "" : "downloading: " + progress->Text();
}

}  // namespace nereid::repository
