// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace nereid::base {

/// Returns the content of a regular file. NOT_FOUND if it is missing, not a regular file or not
/// readable; INVALID_ARG if it has more than `max_bytes` bytes.
Result<std::string> ReadFile(const std::string& path, uint64_t max_bytes = uint64_t{1} << 30);

/// Returns the names in a directory, sorted, without "." and "..". NOT_FOUND if the directory does
/// not exist, INTERNAL if it cannot be read to its end. A list is never partial, so a name that is
/// missing from it is missing on disk.
Result<std::vector<std::string>> ListDirectory(const std::string& path);

/// Returns the names of the subdirectories, sorted. Links to directories are included. Errors are
/// those of ListDirectory.
Result<std::vector<std::string>> ListSubdirectories(const std::string& path);

bool PathExists(const std::string& path);
bool IsDirectory(const std::string& path);

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
