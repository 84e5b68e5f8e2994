// SPDX-License-Identifier: Apache-2.0
#include "repository/config_file.h"

#include "base/files.h"

namespace nereid::repository {

std::string ConfigFilePath(const std::string& model_directory, const std::string& config_name) {
  if (!config_name.empty()) {
    std::string named = base::JoinPath(model_directory, "configs/" + config_name + ".pbtxt");
    if (base::PathExists(named)) return named;
  }
  return base::JoinPath(model_directory, "config.pbtxt");
}

}  // namespace nereid::repository
