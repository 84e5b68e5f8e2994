// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "repository/file_state.h"

namespace nereid::repository {

/// The files of a model in a local directory, and the fingerprint of their origin.
struct LocalFiles {
  std::string path;
  FileState state;
  /// Keeps the directory in place; null for the files of a local repository.
  std::shared_ptr<const void> keeper = nullptr;
};

/// The text of a model's configuration.
struct ConfigText {
  std::string text;
  std::string path;  // for messages
};

/// Reads model repositories. A repository is named by its path or URL; a model by the path of its
/// repository, '/' and the name of its directory. All functions block while the repository is read.
/// Thread-safe.
class RepositoryStorage {
 public:
  using States = std::map<std::string, FileState>;  // by the path of the model

  virtual ~RepositoryStorage() = default;

  /// Returns the names of the models' directories, sorted. An error means that the models are
  /// unknown, not that there are none.
  virtual base::Result<std::vector<std::string>> ListModels(const std::string& repository) = 0;
  virtual base::Result<bool> HasModel(const std::string& model) = 0;

  /// Returns the fingerprint of a model's files. NOT_FOUND if there is no model. No error means
  /// that the files have changed.
  virtual base::Result<FileState> ReadState(const std::string& model) = 0;
  /// Returns the fingerprints of all models of a repository if one operation reads them all, else
  /// nothing.
  virtual base::Result<std::optional<States>> ReadAllStates(const std::string& repository) = 0;
  /// Returns the configuration of a model without its other files; nothing if it has none. See
  /// ConfigFilePath for `config_name`.
  virtual base::Result<std::optional<ConfigText>> ReadConfig(const std::string& model,
                                                             const std::string& config_name) = 0;
  /// Returns the files of a model. They belong together: they are the model at one moment as far as
  /// the storage can tell.
  virtual base::Result<LocalFiles> Fetch(const std::string& model) = 0;
  /// Returns how far the fetch of a model is, for people; "" if it is not being fetched.
  virtual std::string FetchProgress(const std::string& model) const = 0;
};

/// Returns a storage of local directories. With `counts_change_times` it reads the content of a
/// file whose change time is another one although its modification time is the same.
std::shared_ptr<RepositoryStorage> LocalStorage(bool counts_change_times = false);

/// Returns whether a path has the form of a URL: a scheme and "://".
bool IsUrl(const std::string& path);

/// Reads the fingerprints of many models of a storage, with few operations.
class StateReader {
 public:
  explicit StateReader(RepositoryStorage& storage) : storage_(storage) {}
  /// Reads the fingerprints of all models of a repository if the storage can do that at once.
  void Prepare(const std::string& repository);
  /// Returns what RepositoryStorage::ReadState returns. The repository must be prepared. May be
  /// called by several threads at a time.
  base::Result<FileState> Read(const std::string& repository, const std::string& model) const;

 private:
  RepositoryStorage& storage_;
  std::map<std::string, base::Result<std::optional<RepositoryStorage::States>>> states_;
};

}  // namespace nereid::repository
