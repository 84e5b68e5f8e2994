// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/unique_fd.h"
#include "nereid/backend/error.h"
#include "python/process.h"
#include "python/spawner.h"

namespace nereid::python {

/// How the backend treats the requirements.txt of models.
struct RequirementsSettings {
  /// Whether the packages are installed. Off unless the operator asks for it: it needs a network
  /// and runs the installers of packages.
  bool install = false;
  /// The folder of the environments.
  std::string cache;
  /// How many environments are kept besides those in use.
  int64_t most = 16;
  /// The limit of one installation.
  int64_t timeout_seconds = 900;
};

/// Returns the folder of the environments if the operator names none: below XDG_CACHE_HOME or HOME
/// of `environment`, or else in /var/tmp.
std::string DefaultRequirementsCache(const std::vector<std::string>& environment);

/// Returns the requirements.txt of a model, in the version's folder or in the model's; empty if
/// there is none.
std::string FindRequirements(const std::string& version_directory,
                             const std::string& model_directory);

/// A virtual environment with the packages of a requirements.txt. While the object lives, the
/// environment is not removed.
class RequirementsEnvironment {
 public:
  /// Makes the environment, or finds it in the cache. `program` is an interpreter and the path of
  /// requirements.py. Logs what pip writes as "<label>: text". INTERNAL with pip's error, which
  /// names the package.
  backend::Error Provide(const std::string& file, const RequirementsSettings& settings,
                         const Command& program, const std::string& label, Spawner* spawner);

  const std::string& folder() const { return folder_; }

 private:
  backend::Error Lock();

  std::string folder_;
  base::UniqueFd lock_;
};

}  // namespace nereid::python
