// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace nereid::base {

/// What changes when a file is replaced or written to. The zero value stands for no file.
struct FileVersion {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;
  friend bool operator==(const FileVersion&, const FileVersion&) = default;
};

/// Asks the system for the version of a file; symbolic links are followed. Take it before the file
/// is read, so that a change in between is seen the next time.
FileVersion FileVersionOf(const std::string& path);

}  // namespace nereid::base
