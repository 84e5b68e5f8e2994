// SPDX-License-Identifier: Apache-2.0
#include "framework/version_file.h"

#include <algorithm>

namespace nereid::framework {

namespace fs = std::filesystem;

Error FindVersionFile(const backend::ModelConfig& config, const char* usual, fs::path* path) {
  const fs::path name =
      config.default_model_filename.empty() ? usual : config.default_model_filename;
  if (name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end()) {
    return Error::InvalidArgument("model '" + config.name + "': default_model_filename '" +
                                  name.string() + "' leads out of the version's folder");
  }
  *path = fs::path(config.directory) / std::to_string(config.version) / name;
  return {};
}

Error MissingFile(const backend::ModelConfig& config, const fs::path& path) {
  return Error(TRITONSERVER_ERROR_UNAVAILABLE,
               "unable to find '" + path.string() + "' for model '" + config.name + "'");
}

}  // namespace nereid::framework
