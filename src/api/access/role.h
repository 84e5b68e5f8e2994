// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::api {

/// What a caller may do. Each operation names the roles that permit it (operation.h).
enum class Role : uint8_t {
  kInfer = 1,    // send requests to models, and read what that takes
  kObserve = 2,  // read about the server and its models; change nothing
  kManage = 4,   // everything
};

/// A set of roles.
class RoleSet {
 public:
  constexpr RoleSet() = default;
  constexpr RoleSet(std::initializer_list<Role> roles) {
    for (const Role role : roles) bits_ |= static_cast<uint8_t>(role);
  }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool Has(Role role) const { return (bits_ & static_cast<uint8_t>(role)) != 0; }
  /// Returns whether a role is in both sets.
  constexpr bool Meets(RoleSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr void Add(RoleSet other) { bits_ |= other.bits_; }
  friend constexpr bool operator==(RoleSet, RoleSet) = default;

 private:
  uint8_t bits_ = 0;
};

inline constexpr RoleSet kAllRoles = {Role::kInfer, Role::kObserve, Role::kManage};

/// Returns the role with this name: infer, observe or manage.
std::optional<Role> FindRole(std::string_view word);

/// Returns "infer,observe", the form of the access file.
std::string RoleWords(RoleSet roles);

/// Parses roles in the form of the access file. Returns nothing, and sets `unknown` to the first
/// word that is no role, if there is one.
std::optional<RoleSet> ParseRoles(std::string_view words, std::string* unknown);

}  // namespace nereid::api
