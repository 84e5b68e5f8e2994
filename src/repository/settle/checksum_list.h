// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "repository/settle/tree_marks.h"

namespace nereid::repository {

/// The name of a file in a model's directory that lists the files of the model. It has the format
/// of sha256sum: lines of 64 hexadecimal digits, a blank, a blank or '*', and the path of the file
/// below the directory.
inline constexpr std::string_view kChecksumListName = "nereid.sha256";

/// The files of a list, by path: the SHA-256 in lower-case hexadecimal digits.
using ChecksumList = std::map<std::string, std::string>;

/// Parses a list. Paths may begin with "./". INVALID_ARGUMENT, which names the line, for a line of
/// another form, a path that leads out of the directory and a path that is listed twice.
base::Result<ChecksumList> ParseChecksumList(std::string_view text);

/// Checks that the files of a directory are exactly those of its list: none is missing, none
/// differs, and none is there in addition. `marks` are those of the directory. Returns OK for a
/// directory without a list, else INVALID_ARGUMENT with the file that differs. Reads all files that
/// are listed.
base::Status CheckAgainstList(const std::string& directory, const TreeMarks& marks);

}  // namespace nereid::repository
