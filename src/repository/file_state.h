// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace nereid::repository {

/// A fingerprint of a model's directory at one moment. Two fingerprints differ if a file was
/// written, added, deleted or replaced in between. File contents are not read.
struct FileState {
  /// For each entry of the model's directory, a hash of the names, sizes, modification times and
  /// inodes of the entry and everything below it.
  std::map<std::string, uint64_t> entries;

  bool operator==(const FileState&) const = default;
};

class ContentMemory;

/// Returns the fingerprint of a directory. With `memory` it also shows changes of contents that the
/// times of files do not show. Links to files are followed; links to directories are
/// not, because a link to a parent would never end. NOT_FOUND if the directory does not exist,
/// INTERNAL if the file system does not answer. Neither error means that the files changed.
base::Result<FileState> ReadFileState(const std::string& directory,
                                      ContentMemory* memory = nullptr);

/// Returns whether an entry contains only configurations: config.pbtxt, configs.
bool IsConfigEntry(const std::string& name);

/// Returns whether the files of one version are unchanged: its directory, and all entries that are
/// neither a configuration nor another version.
bool VersionUnchanged(const FileState& before, const FileState& now, int64_t version);

}  // namespace nereid::repository
