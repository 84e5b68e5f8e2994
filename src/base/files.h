// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace nereid::base {

/// The whole of a regular file of at most `max_bytes` bytes.
Result<std::string> ReadFile(const std::string& path, uint64_t max_bytes = uint64_t{1} << 30);

/// The names in a directory, sorted, without "." and "..". NOT_FOUND if it is not there, INTERNAL
/// if it cannot be read to its end: what is missing in a list is missing on disk.
Result<std::vector<std::string>> ListDirectory(const std::string& path);

/// The names of the sub-directories (links to directories included), sorted.
Result<std::vector<std::string>> ListSubdirectories(const std::string& path);

bool PathExists(const std::string& path);
bool IsDirectory(const std::string& path);

/// Whether `path` is `directory` or below it once links and ".." are followed; the last parts of
/// both may not exist.
bool IsInside(const std::string& directory, const std::string& path);

/// Whether a name from outside may become a part of a path: it is not empty, "." or "..", and has
/// no
/// '/'.
bool IsPlainName(std::string_view name);

/// "a" + "b" -> "a/b"; an absolute `name` does not replace `directory`.
std::string JoinPath(std::string_view directory, std::string_view name);

}  // namespace nereid::base
