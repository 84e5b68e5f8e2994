// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::base {

/// Returns the content of a regular file, to its end even if the file system tells no size, as for
/// files of /proc and of control groups. NOT_FOUND if it is missing, not a regular file or not
/// readable; INVALID_ARG if it has more than `max_bytes` bytes.
Result<std::string> ReadFile(const std::string& path, uint64_t max_bytes = uint64_t{1} << 30);

enum class EntryKind : uint8_t {
  kDirectory,
  kFile,     // or a socket, a pipe, a device
  kLink,     // leads to anything, or nowhere
  kUnknown,  // the file system does not tell without a look at the entry itself
};

struct DirectoryEntry {
  std::string name;
  EntryKind kind = EntryKind::kUnknown;
};

/// Returns the entries of a directory, sorted by name, without "." and "..". Errors are those of
/// ListDirectory. Costs no system call for each entry.
Result<std::vector<DirectoryEntry>> ListEntries(const std::string& path);

/// Returns whether an entry of `directory` is a directory or a link to one. Looks at the file
/// system only if the kind of the entry does not tell. An error means that it does not answer.
Result<bool> LeadsToDirectory(const std::string& directory, const DirectoryEntry& entry);

/// Returns the names in a directory, sorted, without "." and "..". NOT_FOUND if the directory does
/// not exist, INTERNAL if it cannot be read to its end. A list is never partial, so a name that is
/// missing from it is missing on disk.
Result<std::vector<std::string>> ListDirectory(const std::string& path);

/// Returns the names of the subdirectories, sorted. Links to directories are included. Errors are
/// those of ListDirectory.
Result<std::vector<std::string>> ListSubdirectories(const std::string& path);

bool PathExists(const std::string& path);
bool IsDirectory(const std::string& path);

/// Returns whether a directory that could not be listed was deleted, or may not be read by this
/// user: the file system has answered, and there is nothing to read.
bool IsGoneOrForbidden(const std::string& directory);

/// Returns whether `path` is `directory` or lies below it, after links and ".." are resolved. The
/// last components of both need not exist.
bool IsInside(const std::string& directory, const std::string& path);

/// Returns whether a name from outside may be used as one component of a path: it is not empty, is
/// not "." or "..", and contains no '/'.
bool IsPlainName(std::string_view name);

/// Joins two parts of a path: "a" and "b" give "a/b". Leading '/' of `name` are removed, so an
/// absolute `name` does not replace `directory`.
std::string JoinPath(std::string_view directory, std::string_view name);

}  // namespace nereid::base
