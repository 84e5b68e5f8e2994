// SPDX-License-Identifier: Apache-2.0
#include "app/tools/migrate/model_folder.h"

#include <algorithm>

#include "base/files.h"
#include "base/parse_number.h"

namespace nereid::app::tools {
namespace {

using base::Status;

std::vector<std::string> WithEnding(const std::vector<std::string>& names,
                                    std::string_view ending) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (name.ends_with(ending) && name.size() > ending.size()) found.push_back(name);
  }
  return found;
}

base::Result<ModelFiles> Ir(const std::string& folder, const std::string& xml) {
  const std::string stem = xml.substr(0, xml.size() - std::string_view(".xml").size());
  const std::string weights = base::JoinPath(folder, stem + ".bin");
  if (!base::PathExists(weights)) {
    return Status::NotFound(folder + " has " + xml + " but not its weights " + stem + ".bin");
  }
  const std::string model = base::JoinPath(folder, xml);
  return ModelFiles{"openvino", "", "", model, {{"model.xml", model}, {"model.bin", weights}}};
}

/// The other files of the folder may be data to which the ONNX file refers by their names.
ModelFiles Onnx(const std::string& folder, const std::vector<std::string>& names,
                const std::string& onnx) {
  ModelFiles files{"openvino", "", "model.onnx", base::JoinPath(folder, onnx), {}};
  files.parts.emplace_back("model.onnx", files.model);
  for (const std::string& name : names) {
    const std::string path = base::JoinPath(folder, name);
    if (name != onnx && name != "model.onnx" && !base::IsDirectory(path)) {
      files.parts.emplace_back(name, path);
    }
  }
  return files;
}

}  // namespace

base::Result<std::vector<VersionFolder>> FindVersions(const std::string& folder) {
  NEREID_ASSIGN_OR_RETURN(const auto names, base::ListSubdirectories(folder));
  std::vector<VersionFolder> versions;
  for (const std::string& name : names) {
    const auto number = base::ParseWhole<int64_t>(name);
    if (number && *number >= 0) versions.push_back({*number, base::JoinPath(folder, name)});
  }
  std::sort(versions.begin(), versions.end(),
            [](const VersionFolder& a, const VersionFolder& b) { return a.number < b.number; });
  for (size_t i = 1; i < versions.size(); ++i) {
    if (versions[i - 1].number != versions[i].number) continue;
    return Status::InvalidArgument(versions[i - 1].path + " and " + versions[i].path +
                                   " are the same version");
  }
  if (!versions.empty()) return versions;
  return Status::NotFound(folder + " has no version: a subfolder whose name is a number");
}

base::Result<ModelFiles> FindModelFiles(OtherServer server, const std::string& folder) {
  const bool openvino = server == OtherServer::kOpenVinoModelServer;
  if (base::PathExists(base::JoinPath(folder, "saved_model.pb"))) {
    const std::string name = "model.savedmodel";
    return openvino
               ? ModelFiles{"openvino", "", name, folder, {{name, folder}}}
               : ModelFiles{"tensorflow", "tensorflow_savedmodel", "", folder, {{name, folder}}};
  }
  if (!openvino) return Status::NotFound(folder + " has no saved_model.pb");
  NEREID_ASSIGN_OR_RETURN(const auto names, base::ListDirectory(folder));
  const auto irs = WithEnding(names, ".xml"), onnx = WithEnding(names, ".onnx");
  if (irs.size() == 1) return Ir(folder, irs.front());
  if (irs.empty() && onnx.size() == 1) return Onnx(folder, names, onnx.front());
  return Status::NotFound(
      folder + " has " + std::to_string(irs.size()) + " files .xml and " +
      std::to_string(onnx.size()) +
      " files .onnx; expected one model: an IR (.xml and .bin), an ONNX file or a SavedModel");
}

}  // namespace nereid::app::tools
