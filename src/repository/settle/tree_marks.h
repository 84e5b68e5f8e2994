// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace nereid::repository {

/// What the file system tells about one file or directory. Links are followed.
struct FileMark {
  bool is_directory = false;
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t modified_ns = 0;  // nanoseconds since the Unix epoch, as the others
  int64_t changed_ns = 0;   // the change time, which no program can set
  int64_t born_ns = 0;      // 0 if the file system does not tell

  bool operator==(const FileMark&) const = default;
};

/// The marks of a model's directory and of everything below it, by the path below the directory; ""
/// is the directory itself. Directories named __pycache__ are left out, because a Python runtime
/// writes them while a model is loaded.
using TreeMarks = std::map<std::string, FileMark>;

/// Reads the marks of a directory. Links to directories below it are not entered. NOT_FOUND if the
/// directory does not exist, INTERNAL if the file system does not answer. Files that are deleted
/// during the call are left out.
base::Result<TreeMarks> ReadTreeMarks(const std::string& directory);

/// Returns whether the times and inodes of a directory are those of this machine: network and user
/// file systems have other clocks, and some invent inodes.
bool IsOnLocalDisk(const std::string& directory);

/// Returns a hash of the marks. Of directories only the path and the inode count: their times and
/// sizes follow from their entries.
uint64_t Fingerprint(const TreeMarks& marks);

/// Returns the path of a file or directory that was changed or deleted between two readings, or
/// also, with `with_additions`, added; nothing if there is none. The path of the directory itself
/// is ".".
std::string FindChange(const TreeMarks& before, const TreeMarks& now, bool with_additions);

/// Returns the latest change time.
int64_t LatestChangeNs(const TreeMarks& marks);

/// The last scan of a model, for ArrivedWhole.
struct LastScan {
  const TreeMarks* marks = nullptr;  // null if the model was not there
  bool was_accepted = false;         // the model with these marks was accepted for a load
  int64_t wall_ns = 0;               // when the scan began
};

/// Returns whether the change since the last scan is a directory that a rename put in place: the
/// whole model, or one version of a model that was accepted before. Such a directory is older than
/// the last scan, which did not see it there, and nothing in it was changed after the rename. The
/// clock of the file system must be that of `last.wall_ns`.
bool ArrivedWhole(const LastScan& last, const TreeMarks& now);

}  // namespace nereid::repository
