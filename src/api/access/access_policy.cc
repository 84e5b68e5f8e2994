// SPDX-License-Identifier: Apache-2.0
#include "api/access/access_policy.h"

#include "base/ascii_case.h"

namespace nereid::api {
namespace {

template <typename Map, typename Key>
void AddRoles(const Map& map, const Key& key, std::optional<RoleSet>* roles) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  RoleSet all = roles->value_or(RoleSet());
  all.Add(found->second);
  *roles = all;
}

}  // namespace

std::optional<RoleSet> AccessPolicy::RolesOfToken(std::string_view field) const {
  const std::optional<TokenParts> parts = ParseBearer(field);
  if (!parts) return std::nullopt;
  const auto found = grants_.tokens.find(parts->name);
  // The hash is computed for unknown names, too, so that the time does not tell which names exist.
  static constexpr TokenHash kNobody = {};
  const bool is_known = found != grants_.tokens.end();
  if (!Matches(is_known ? found->second.hash : kNobody, parts->secret) || !is_known) {
    return std::nullopt;
  }
  return found->second.roles;
}

std::optional<RoleSet> AccessPolicy::RolesOf(const Caller& caller) const {
  std::optional<RoleSet> roles;
  for (const HeaderField& field : caller.fields) {
    if (!base::EqualsIgnoringCase(field.name, kAuthorization)) continue;
    // Another server on the way may look at the other one of two fields.
    if (roles.has_value()) return std::nullopt;
    roles = RolesOfToken(field.value);
    if (!roles) return std::nullopt;
  }
  if (!caller.tls_subject.empty()) AddRoles(grants_.subjects, caller.tls_subject, &roles);
  if (caller.uid) AddRoles(grants_.uids, *caller.uid, &roles);
  if (caller.gid) AddRoles(grants_.gids, *caller.gid, &roles);
  return roles;
}

}  // namespace nereid::api
