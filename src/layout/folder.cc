// SPDX-License-Identifier: Apache-2.0
#include "layout/folder.h"

#include <unistd.h>

#include "base/files.h"

namespace nereid::layout {
namespace {

constexpr size_t kMaxEntries = 2000;
/// The part of an OpenVINO model in which a constant is looked for.
constexpr size_t kMaxXml = size_t{1} << 20;

void ReadDirectory(const std::string& root, const std::string& directory, int levels,
                   Folder* folder) {
  const auto names = base::ListDirectory(base::JoinPath(root, directory));
  if (!names.ok()) {
    folder->entries[directory].content.kind = FileKind::kUnreadable;
    return;
  }
  for (const std::string& name : *names) {
    if (name.starts_with('.')) continue;
    if (folder->entries.size() >= kMaxEntries) return;
    const std::string relative = Below(directory, name);
    const std::string path = base::JoinPath(root, relative);
    if (!base::IsDirectory(path)) {
      folder->entries[relative] = LookAtFile(path, name);
      continue;
    }
    folder->entries[relative].is_directory = true;
    if (levels > 1) ReadDirectory(root, relative, levels - 1, folder);
  }
}

}  // namespace

FolderEntry LookAtFile(const std::string& path, std::string_view name) {
  FolderEntry entry;
  const auto file = base::OpenByteSource(path);
  if (!file.ok()) {
    // Links that lead nowhere, and pipes, are not to be made readable.
    const bool is_refused = ::access(path.c_str(), F_OK) == 0 && ::access(path.c_str(), R_OK) != 0;
    entry.content.kind = is_refused ? FileKind::kUnreadable : FileKind::kOther;
    return entry;
  }
  entry.size = (*file)->size();
  entry.content = ClassifyFile(name, **file);
  if (entry.content.kind == FileKind::kOnnx) entry.external_data = ReadOnnxExternalData(**file);
  if (entry.content.kind == FileKind::kOpenVino) {
    entry.needs_weights = (*file)->Read(0, kMaxXml).find("type=\"Const\"") != std::string::npos;
  }
  return entry;
}

const FolderEntry* Folder::Find(const std::string& path) const {
  const auto found = entries.find(path);
  return found == entries.end() ? nullptr : &found->second;
}

std::vector<std::string> Folder::Children(const std::string& directory) const {
  std::vector<std::string> names;
  for (const auto& [path, entry] : entries) {
    if (ParentOf(path) == directory) names.emplace_back(LastName(path));
  }
  return names;
}

Folder ReadFolder(const std::string& path, const std::string& name, int depth) {
  Folder folder;
  folder.name = name;
  ReadDirectory(path, "", depth, &folder);
  return folder;
}

std::string Below(std::string_view directory, std::string_view name) {
  return directory.empty() ? std::string(name) : std::string(directory) + "/" + std::string(name);
}

std::string_view LastName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace nereid::layout
