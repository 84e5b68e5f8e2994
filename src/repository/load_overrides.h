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

/// What the parameters of a load put in the place of the repository's files.
struct LoadOverrides {
  struct File {
    std::string path;  // below the model's directory: "1/model.onnx"
    std::string content;
  };
  std::optional<std::string> config;  // JSON, in place of the configuration file
  std::vector<File> files;            // all the files there are, in place of the directory

  bool empty() const { return !config && files.empty(); }
};

/// From parameters in the form of the protocol: "config", and "file:<path>". Of several with one
/// name the last one counts. INVALID_ARGUMENT for any other name, and for files that are too many
/// or too large.
base::Result<LoadOverrides> ParseLoadParameters(
    std::vector<std::pair<std::string, std::string>> parameters);

/// Writes the files into a new directory. INVALID_ARGUMENT for files without a configuration, and
/// for a path that leaves the directory.
base::Result<std::unique_ptr<base::TemporaryDirectory>> StageFiles(const LoadOverrides& overrides);

}  // namespace nereid::repository
