// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/temporary_directory.h"

namespace nereid::repository {

/// The parameters of a load request that replace files of the repository.
struct LoadOverrides {
  struct File {
    std::string path;  // below the model's directory: "1/model.onnx"
    std::string content;
  };
  std::optional<std::string> config;  // JSON that replaces the configuration file
  std::vector<File> files;            // files that replace the whole directory

  bool empty() const { return !config && files.empty(); }
};

/// Converts the parameters of the model repository extension: "config" and "file:<path>". The last
/// one of a name counts. INVALID_ARGUMENT for any other name, and for files that are too many or
/// too large.
base::Result<LoadOverrides> ParseLoadParameters(
    std::vector<std::pair<std::string, std::string>> parameters);

/// Writes the files into a new temporary directory. INVALID_ARGUMENT for files without a
/// configuration and for a path that leads out of the directory.
base::Result<std::unique_ptr<base::TemporaryDirectory>> StageFiles(const LoadOverrides& overrides);

}  // namespace nereid::repository
