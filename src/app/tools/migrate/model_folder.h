// SPDX-License-Identifier: Apache-2.0
// The folders of another server's model.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/tools/migrate/migration.h"
#include "base/result.h"

namespace nereid::app::tools {

/// A version of a model: a subfolder whose name is a number.
struct VersionFolder {
  int64_t number = 0;
  std::string path;
};

/// Returns the versions in a folder, in ascending order. NOT_FOUND if the folder does not exist or
/// has no version; INVALID_ARGUMENT if two subfolders have one number ("1" and "001").
base::Result<std::vector<VersionFolder>> FindVersions(const std::string& folder);

/// The files of a version, and how a repository has them.
struct ModelFiles {
  std::string backend;
  std::string platform;                // empty unless the backend has several
  std::string default_model_filename;  // empty for the backend's default
  std::string model;                   // the file or folder that says what the inputs are
  /// The name in the version's folder of the repository → the path of the file or folder.
  std::vector<std::pair<std::string, std::string>> parts;
};

/// Finds the model in a version's folder: a SavedModel, and for OpenVINO Model Server also an IR or
/// an ONNX model. NOT_FOUND with what was expected if there is none, or more than one.
base::Result<ModelFiles> FindModelFiles(OtherServer server, const std::string& folder);

}  // namespace nereid::app::tools
