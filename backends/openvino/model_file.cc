// SPDX-License-Identifier: Apache-2.0
#include "openvino/model_file.h"

#include <algorithm>
#include <filesystem>

namespace nereid::openvino {
namespace {

namespace fs = std::filesystem;

bool IsFile(const fs::path& path) {
  std::error_code failure;
  return fs::is_regular_file(path, failure);
}

}  // namespace

Error FindModelFile(const backend::ModelConfig& config, std::string* path) {
  const fs::path directory = fs::path(config.directory) / std::to_string(config.version);
  fs::path name = config.default_model_filename;
  if (name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end()) {
    return Error::InvalidArgument("model '" + config.name + "': default_model_filename '" +
                                  name.string() + "' leads out of the version's folder");
  }
  std::error_code failure;
  // The server writes "model.xml" where the configuration names no file.
  if (name.empty()) {
    name = "model.xml";
  }
  if (name == "model.xml" && !fs::exists(directory / name, failure) &&
      fs::exists(directory / "model.onnx", failure)) {
    name = "model.onnx";
  }
  const fs::path found = directory / name;
  if (fs::is_directory(found, failure)) {
    for (const fs::path& inner : {name.filename(), fs::path("model.xml"), fs::path("model.onnx")}) {
      if (IsFile(found / inner)) {
        *path = (found / inner).string();
        return {};
      }
    }
  } else if (!IsFile(found)) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 "unable to find '" + found.string() + "' for model '" + config.name + "'");
  }
  *path = found.string();
  return {};
}

}  // namespace nereid::openvino
