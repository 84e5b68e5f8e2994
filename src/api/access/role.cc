// SPDX-License-Identifier: Apache-2.0
#include "api/access/role.h"

#include <utility>

namespace nereid::api {
namespace {

constexpr std::pair<Role, std::string_view> kWords[] = {
    {Role::kInfer, "infer"}, {Role::kObserve, "observe"}, {Role::kManage, "manage"}};

}  // namespace

std::optional<Role> FindRole(std::string_view word) {
  for (const auto& [role, name] : kWords) {
    if (name == word) return role;
  }
  return std::nullopt;
}

std::string RoleWords(RoleSet roles) {
  std::string words;
  for (const auto& [role, name] : kWords) {
    if (!roles.Has(role)) continue;
    if (!words.empty()) words += ',';
    words += name;
  }
  return words;
}

std::optional<RoleSet> ParseRoles(std::string_view words, std::string* unknown) {
  RoleSet roles;
  while (true) {
    const size_t comma = words.find(',');
    const std::string_view word = words.substr(0, comma);
    const std::optional<Role> role = FindRole(word);
    if (!role) {
      unknown->assign(word);
      return std::nullopt;
    }
    roles.Add({*role});
    if (comma == std::string_view::npos) return roles;
    words.remove_prefix(comma + 1);
  }
}

}  // namespace nereid::api
