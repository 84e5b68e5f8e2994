// SPDX-License-Identifier: Apache-2.0
#include "repository/settle/checksum_list.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/files.h"
#include "repository/mirror/digest.h"

namespace nereid::repository {
namespace {

using base::Status;

constexpr size_t kDigits = 64;
constexpr uint64_t kMaxListBytes = uint64_t{16} << 20;

Status WrongLine(size_t number, const std::string& reason) {
  return Status::InvalidArgument(std::string(kChecksumListName) + ", line " +
                                 std::to_string(number) + ": " + reason);
}

bool StaysInside(std::string_view path) {
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (!base::IsPlainName(path.substr(0, end))) return false;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return true;
}

Status ReadLine(std::string_view line, size_t number, ChecksumList* list) {
  std::string digest(line.substr(0, kDigits));
  std::transform(digest.begin(), digest.end(), digest.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const bool has_form = line.size() > kDigits + 2 && line[kDigits] == ' ' &&
                        (line[kDigits + 1] == ' ' || line[kDigits + 1] == '*') &&
                        repository::mirror::IsSha256Text(digest);
  if (!has_form) {
    return WrongLine(number, "expected 64 hexadecimal digits, two blanks and a path");
  }
  std::string_view path = line.substr(kDigits + 2);
  if (path.starts_with("./")) path.remove_prefix(2);
  if (path.empty() || path.ends_with('/') || !StaysInside(path)) {
    return WrongLine(number, "the path '" + std::string(path) + "' is not below the model");
  }
  if (!list->emplace(path, std::move(digest)).second) {
    return WrongLine(number, "the path '" + std::string(path) + "' is listed twice");
  }
  return Status::Ok();
}

Status Differs(const std::string& path, const char* how) {
  return Status::InvalidArgument("the file '" + path + "' " + how + " " +
                                 std::string(kChecksumListName));
}

}  // namespace

base::Result<ChecksumList> ParseChecksumList(std::string_view text) {
  ChecksumList list;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) NEREID_RETURN_IF_ERROR(ReadLine(line, number, &list));
  }
  return list;
}

Status CheckAgainstList(const std::string& directory, const TreeMarks& marks) {
  if (!marks.contains(std::string(kChecksumListName))) return Status::Ok();
  NEREID_ASSIGN_OR_RETURN(
      const std::string text,
      base::ReadFile(base::JoinPath(directory, kChecksumListName), kMaxListBytes));
  NEREID_ASSIGN_OR_RETURN(const ChecksumList list, ParseChecksumList(text));
  for (const auto& [path, mark] : marks) {
    if (mark.is_directory || path == kChecksumListName || list.contains(path)) continue;
    return Differs(path, "is not in");
  }
  for (const auto& [path, digest] : list) {
    const auto mark = marks.find(path);
    if (mark == marks.end() || mark->second.is_directory) {
      return Differs(path, "is missing, but is in");
    }
  }
  for (const auto& [path, digest] : list) {
    const auto read = mirror::DigestFile(base::JoinPath(directory, path));
    if (!read.ok() || read->sha256 != digest) return Differs(path, "has not the SHA-256 of");
  }
  return Status::Ok();
}

}  // namespace nereid::repository
