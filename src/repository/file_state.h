// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace nereid::repository {

/// What a model's directory looked like at a moment: enough to see that a file of it was written,
/// added, deleted or replaced since, without reading it.
struct FileState {
  /// By name of the entry of the model's directory: a hash over the names, sizes, modification
  /// times and inodes of the entry and everything below it.
  std::map<std::string, uint64_t> entries;

  bool operator==(const FileState&) const = default;
};

/// Links are followed to the file that they name, but not into a directory: one to a parent would
/// never end. NOT_FOUND if the directory is not there, INTERNAL if the file system gives no answer:
/// neither is a change of the files.
base::Result<FileState> ReadFileState(const std::string& directory);

/// The entries that say nothing but how the model is configured: config.pbtxt, configs.
bool IsConfigEntry(const std::string& name);

/// Whether the files of one version are as they were: its directory, and everything that is neither
/// configuration nor another version's.
bool VersionUnchanged(const FileState& before, const FileState& now, int64_t version);

}  // namespace nereid::repository
