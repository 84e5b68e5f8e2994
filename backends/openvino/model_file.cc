// SPDX-License-Identifier: Apache-2.0
#include "openvino/model_file.h"

#include <filesystem>

#include "framework/version_file.h"

namespace nereid::openvino {
namespace {

namespace fs = std::filesystem;

bool IsFile(const fs::path& path) {
  std::error_code failure;
  return fs::is_regular_file(path, failure);
}

}  // namespace

Error FindModelFile(const backend::ModelConfig& config, std::string* path) {
  fs::path found;
  NEREID_BACKEND_TRY(framework::FindVersionFile(config, "model.xml", &found));
  std::error_code failure;
  // The server sets "model.xml" if the configuration names no file.
  if (found.filename() == "model.xml" && !fs::exists(found, failure) &&
      fs::exists(fs::path(found).replace_extension(".onnx"), failure)) {
    found.replace_extension(".onnx");
  }
  if (fs::is_directory(found, failure)) {
    for (const fs::path& inner :
         {found.filename(), fs::path("model.xml"), fs::path("model.onnx")}) {
      if (IsFile(found / inner)) {
        *path = (found / inner).string();
        return {};
      }
    }
  } else if (!IsFile(found)) {
    return framework::MissingFile(config, found);
  }
  *path = found.string();
  return {};
}

}  // namespace nereid::openvino
