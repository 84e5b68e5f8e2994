// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "layout/file_kind.h"
#include "layout/onnx_external_data.h"

namespace nereid::layout {

/// A file or directory below a model's directory.
struct FolderEntry {
  bool is_directory = false;
  uint64_t size = 0;
  FileContent content = {};
  /// Of an ONNX model: the files beside it that it needs.
  OnnxExternalData external_data = {};
  /// Of an OpenVINO model: whether it has constants, which are in the .bin beside it.
  bool needs_weights = false;
};

/// What lies in a model's directory, with a look into the files. The rules of advise.h decide on it
/// alone, so tests make one by hand.
struct Folder {
  /// The model's name.
  std::string name;
  /// By path relative to the directory: "1/model.onnx". Hidden files are left out.
  std::map<std::string, FolderEntry> entries;

  const FolderEntry* Find(const std::string& path) const;
  /// Returns the names in a directory, sorted; "" is the model's directory itself.
  std::vector<std::string> Children(const std::string& directory) const;
};

/// Reads a local model directory: at most `depth` levels and 2,000 entries, and the beginning and
/// the structure of each file. Links are followed. What cannot be read has the kind kUnreadable.
/// `name` is the model's.
Folder ReadFolder(const std::string& path, const std::string& name, int depth = 5);

/// Looks at one file, whose path ends with `name`.
FolderEntry LookAtFile(const std::string& path, std::string_view name);

/// Joins two parts of a relative path: "" and "a" give "a", "a" and "b" give "a/b".
std::string Below(std::string_view directory, std::string_view name);

/// Returns the last component of a path, and the path without it ("" for a single component).
std::string_view LastName(std::string_view path);
std::string_view ParentOf(std::string_view path);

}  // namespace nereid::layout
