// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/access/access_file.h"
#include "api/access/caller.h"
#include "api/access/operation.h"
#include "api/access/refusal.h"
#include "api/access/role.h"

namespace nereid::api {

/// The outcome for a caller that asks for an operation.
struct Admission {
  AccessRefusal refusal;
  RoleSet roles = kAllRoles;  // of the caller; for AccessGate::Check()

  bool ok() const { return !refusal.refused(); }
};

/// A category that only callers with this header (HTTP) or metadata (gRPC) may use.
struct Restriction {
  Category category = Category::kNone;
  std::string header;
  std::string value;
};

struct AccessRules {
  /// Triton's words for the protocol in a refusal: "API" for HTTP, "protocol" for gRPC.
  std::string_view restricted_word = "API";
  std::vector<Restriction> restrictions = {};
  /// Who has which roles. Null: everyone has all.
  std::shared_ptr<const AccessFile> file = nullptr;
  /// Whether the operations that are open to probes need a role, too.
  bool protects_health = false;
  /// Whether the operations that only managers may call are served here.
  bool serves_management = true;

  /// Returns whether there is nothing to decide: everyone may do everything.
  bool empty() const { return restrictions.empty() && file == nullptr && serves_management; }
};

/// The one place where it is decided whether a caller may call an operation: each front end asks
/// the gate of its door before it does anything else for a request. Thread-safe.
class AccessGate {
 public:
  explicit AccessGate(AccessRules rules);

  /// Decides whether a caller may call an operation.
  Admission Admit(Operation operation, const Caller& caller) const;

  /// Decides the same for a caller that was admitted to another operation of the same category: a
  /// gRPC method reads or changes settings, depending on its message.
  AccessRefusal Check(Operation operation, RoleSet roles) const;

  /// Returns whether the decision needs to know who is at the other end of the connection.
  bool NeedsPeer() const { return rules_.file != nullptr; }
  /// Returns whether the decision needs the header field with this name, in any case of letters.
  bool NeedsField(std::string_view name) const;
  /// Returns whether this field is a secret that no model should see.
  bool IsSecret(std::string_view name) const;

 private:
  const Restriction* FindViolated(Operation operation, const Caller& caller) const;
  bool IsOpen(const OperationFacts& facts) const;

  const AccessRules rules_;
  // By category; -1 or the place in rules_.restrictions.
  std::array<int, static_cast<size_t>(Category::kNone) + 1> restriction_of_;
};

}  // namespace nereid::api
