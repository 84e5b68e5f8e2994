// SPDX-License-Identifier: Apache-2.0
#include "config/complete/model_files.h"

#include <filesystem>
#include <utility>

#include "base/files.h"

namespace nereid::config {
namespace {

std::string LastComponent(const std::string& path) {
  std::filesystem::path p(path);
  // The path "models/a/" has an empty file name.
  return p.has_filename() ? p.filename().string() : p.parent_path().filename().string();
}

}  // namespace

base::Result<ModelFiles> ReadModelFiles(const std::string& model_directory) {
  ModelFiles files;
  files.directory_name = LastComponent(model_directory);
  NEREID_ASSIGN_OR_RETURN(const auto directories, base::ListSubdirectories(model_directory));
  for (const std::string& name : directories) {
    const std::string path = base::JoinPath(model_directory, name);
    NEREID_ASSIGN_OR_RETURN(auto entries, base::ListEntries(path));
    auto& list = files.subdirectories[name];
    for (base::DirectoryEntry& entry : entries) {
      const auto is_directory = base::LeadsToDirectory(path, entry);
      list.push_back({std::move(entry.name), is_directory.ok() && *is_directory});
    }
  }
  return files;
}

}  // namespace nereid::config
