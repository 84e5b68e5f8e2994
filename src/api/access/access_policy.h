// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "api/access/caller.h"
#include "api/access/role.h"
#include "api/access/token.h"

namespace nereid::api {

/// Who has which roles. A caller that is not named has none. Immutable; thread-safe.
class AccessPolicy {
 public:
  struct Token {
    RoleSet roles;
    TokenHash hash;
  };
  struct Grants {
    std::map<std::string, Token, std::less<>> tokens;      // by name
    std::map<std::string, RoleSet, std::less<>> subjects;  // of client certificates
    std::map<uint32_t, RoleSet> uids;
    std::map<uint32_t, RoleSet> gids;
  };

  explicit AccessPolicy(Grants grants) : grants_(std::move(grants)) {}

  /// Returns the roles of a caller, from all that identifies it; nothing if it is not named. A
  /// caller with a wrong token is not named, whatever else identifies it.
  std::optional<RoleSet> RolesOf(const Caller& caller) const;

  const Grants& grants() const { return grants_; }

 private:
  std::optional<RoleSet> RolesOfToken(std::string_view field) const;

  const Grants grants_;
};

}  // namespace nereid::api
