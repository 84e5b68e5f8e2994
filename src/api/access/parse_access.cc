// SPDX-License-Identifier: Apache-2.0
#include "api/access/parse_access.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/parse_number.h"
#include "base/utf8.h"

namespace nereid::api {
namespace {

using base::Status;

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors write it
constexpr size_t kMaxShown = 64;

std::string Quoted(std::string_view text) {
  return "'" + base::ReplaceInvalidUtf8(text.substr(0, kMaxShown)) + "'";
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string_view TrimBlanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// Removes and returns the first word of `line`.
std::string_view TakeWord(std::string_view* line) {
  *line = TrimBlanks(*line);
  const size_t end = line->find_first_of(kBlanks);
  const std::string_view word = line->substr(0, end);
  *line = end == std::string_view::npos ? std::string_view() : TrimBlanks(line->substr(end));
  return word;
}

template <typename Map, typename Key, typename Value>
Status AddOnce(std::string_view kind, std::string_view shown, Key key, Value value, Map* map) {
  if (map->try_emplace(std::move(key), std::move(value)).second) return Status::Ok();
  return Status::InvalidArgument("the " + std::string(kind) + " " + Quoted(shown) +
                                 " has an entry already: name all its roles in one line");
}

Status AddToken(RoleSet roles, std::string_view rest, AccessPolicy::Grants* grants) {
  const std::string_view name = TakeWord(&rest);
  if (!IsTokenName(name)) {
    return Status::InvalidArgument("a token's name has 1 to 64 letters, digits, '-' and '_'. Got " +
                                   Quoted(name));
  }
  const std::optional<TokenHash> hash = ParseHash(rest);
  if (!hash) {
    return Status::InvalidArgument(
        "a token's hash has the form hmac-sha256:<32 digits>:<64 digits>, hexadecimal; 'nereid "
        "token create' prints the line");
  }
  return AddOnce("token", name, std::string(name), AccessPolicy::Token{roles, *hash},
                 &grants->tokens);
}

Status AddId(std::string_view kind, RoleSet roles, std::string_view text,
             std::map<uint32_t, RoleSet>* ids) {
  const auto id = base::ParseWhole<uint32_t>(text);
  if (!id) {
    return Status::InvalidArgument("a " + std::string(kind) + " is a number. Got " + Quoted(text));
  }
  return AddOnce(kind, text, *id, roles, ids);
}

Status AddLine(std::string_view line, AccessPolicy::Grants* grants) {
  const std::string_view kind = TakeWord(&line);
  if (kind.empty() || kind.front() == '#') return Status::Ok();
  if (kind != "token" && kind != "subject" && kind != "uid" && kind != "gid") {
    return Status::InvalidArgument("unknown kind of entry " + Quoted(kind) +
                                   ", expected token, subject, uid or gid");
  }
  const std::string_view words = TakeWord(&line);
  std::string unknown;
  const std::optional<RoleSet> roles = ParseRoles(words, &unknown);
  if (!roles) {
    return Status::InvalidArgument("unknown role " + Quoted(unknown) +
                                   ", expected infer, observe or manage");
  }
  if (kind == "token") return AddToken(*roles, line, grants);
  if (kind == "uid") return AddId(kind, *roles, line, &grants->uids);
  if (kind == "gid") return AddId(kind, *roles, line, &grants->gids);
  if (line.empty()) return Status::InvalidArgument("the subject of the certificate is missing");
  if (std::any_of(line.begin(), line.end(), IsControl)) {
    return Status::InvalidArgument("the subject " + Quoted(line) +
                                   " has a control character: write it as '\\' and two "
                                   "hexadecimal digits");
  }
  return AddOnce(kind, line, std::string(line), *roles, &grants->subjects);
}

}  // namespace

base::Result<std::shared_ptr<const AccessPolicy>> ParseAccess(std::string_view text) {
  AccessPolicy::Grants grants;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const Status status = AddLine(line, &grants);
    if (!status.ok()) return status.WithPrefix("line " + std::to_string(number) + ": ");
  }
  return std::make_shared<const AccessPolicy>(std::move(grants));
}

std::string TokenLine(std::string_view name, const AccessPolicy::Token& token) {
  return "token " + RoleWords(token.roles) + " " + std::string(name) + " " + FormatHash(token.hash);
}

}  // namespace nereid::api
