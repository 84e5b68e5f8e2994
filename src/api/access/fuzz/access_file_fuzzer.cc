// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: parses an access file. What it grants must survive being written and parsed
// again.
#include <cstdint>
#include <string>
#include <string_view>

#include "api/access/parse_access.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::api;
  const auto policy = ParseAccess({reinterpret_cast<const char*>(data), size});
  if (!policy.ok()) return 0;
  const AccessPolicy::Grants& grants = (*policy)->grants();
  std::string text;
  for (const auto& [name, token] : grants.tokens) text += TokenLine(name, token) + "\n";
  for (const auto& [subject, roles] : grants.subjects) {
    text += "subject " + RoleWords(roles) + " " + subject + "\n";
  }
  for (const auto& [uid, roles] : grants.uids) {
    text += "uid " + RoleWords(roles) + " " + std::to_string(uid) + "\n";
  }
  for (const auto& [gid, roles] : grants.gids) {
    text += "gid " + RoleWords(roles) + " " + std::to_string(gid) + "\n";
  }
  const auto again = ParseAccess(text);
  if (!again.ok() || (*again)->grants().tokens.size() != grants.tokens.size() ||
      (*again)->grants().subjects != grants.subjects || (*again)->grants().uids != grants.uids ||
      (*again)->grants().gids != grants.gids) {
    __builtin_trap();
  }
  return 0;
}
