// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "repository/mirror/model_mirror.h"
#include "repository/repository_storage.h"
#include "repository/storage/object_store.h"
#include "repository/storage/open_object_store.h"

namespace nereid::repository {

/// Model repositories in object stores. The fingerprint of a model comes from the list of its
/// objects (keys, sizes, versions), so a poll downloads nothing. Models are copied to the local
/// disk by a ModelMirror, which is made at the first use. Thread-safe.
class RemoteStorage final : public RepositoryStorage {
 public:
  using OpenStore = std::function<base::Result<storage::OpenedObjectStore>(const std::string& url)>;
  using OpenMirror = std::function<base::Result<std::unique_ptr<mirror::ModelMirror>>()>;

  RemoteStorage(OpenStore open_store, OpenMirror open_mirror)
      : open_store_(std::move(open_store)), open_mirror_(std::move(open_mirror)) {}

  base::Result<std::vector<std::string>> ListModels(const std::string& repository) override;
  base::Result<bool> HasModel(const std::string& model) override;
  base::Result<FileState> ReadState(const std::string& model) override;
  base::Result<std::optional<States>> ReadAllStates(const std::string& repository) override;
  base::Result<std::optional<ConfigText>> ReadConfig(const std::string& model,
                                                     const std::string& config_name) override;
  base::Result<LocalFiles> Fetch(const std::string& model) override;
  std::string FetchProgress(const std::string& model) const override;

  /// Returns the mirror if it was used; else null. It lives as long as this object.
  const mirror::ModelMirror* UsedMirror() const;

 private:
  struct Repository {
    std::unique_ptr<storage::ObjectStore> store;
    std::string name;    // the URL without secrets, without '/' at its end
    std::string prefix;  // empty or with '/' at its end
  };

  base::Result<mirror::ModelMirror*> Mirror();
  base::Result<std::shared_ptr<Repository>> Open(const std::string& url);
  /// Opens the repository of a model. The result must not outlive this object.
  base::Result<mirror::RemoteModel> Locate(const std::string& model);

  const OpenStore open_store_;
  const OpenMirror open_mirror_;
  mutable base::Mutex mutex_;  // not held while a store is used
  std::unique_ptr<mirror::ModelMirror> mirror_ NEREID_GUARDED_BY(mutex_);  // stays once it is set
  std::map<std::string, std::shared_ptr<Repository>> repositories_ NEREID_GUARDED_BY(mutex_);
};

/// Local directories and object stores: each path is read by the storage that it belongs to.
class MixedStorage final : public RepositoryStorage {
 public:
  MixedStorage(std::shared_ptr<RepositoryStorage> local, std::shared_ptr<RepositoryStorage> remote)
      : local_(std::move(local)), remote_(std::move(remote)) {}

  base::Result<std::vector<std::string>> ListModels(const std::string& repository) override {
    return Of(repository).ListModels(repository);
  }
  base::Result<bool> HasModel(const std::string& model) override {
    return Of(model).HasModel(model);
  }
  base::Result<FileState> ReadState(const std::string& model) override {
    return Of(model).ReadState(model);
  }
  base::Result<std::optional<States>> ReadAllStates(const std::string& repository) override {
    return Of(repository).ReadAllStates(repository);
  }
  base::Result<std::optional<ConfigText>> ReadConfig(const std::string& model,
                                                     const std::string& config_name) override {
    return Of(model).ReadConfig(model, config_name);
  }
  base::Result<LocalFiles> Fetch(const std::string& model) override {
    return Of(model).Fetch(model);
  }
  std::string FetchProgress(const std::string& model) const override {
    return Of(model).FetchProgress(model);
  }

 private:
  RepositoryStorage& Of(const std::string& path) const { return IsUrl(path) ? *remote_ : *local_; }

  const std::shared_ptr<RepositoryStorage> local_;
  const std::shared_ptr<RepositoryStorage> remote_;
};

}  // namespace nereid::repository
