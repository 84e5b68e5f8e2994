// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace nereid::config {

/// The content of a model's directory, as far as the completion of a configuration uses it.
struct ModelFiles {
  struct Entry {
    std::string name;
    bool is_directory = false;
  };
  /// The name of the model's directory, without the path to it.
  std::string directory_name;
  /// The subdirectories, by name, and their entries.
  std::map<std::string, std::vector<Entry>> subdirectories;
};

/// Reads a local model directory and its direct subdirectories. NOT_FOUND if the directory does not
/// exist, INTERNAL if a listing fails.
base::Result<ModelFiles> ReadModelFiles(const std::string& model_directory);

}  // namespace nereid::config
