// SPDX-License-Identifier: Apache-2.0
#include "api/access/access_gate.h"

#include <utility>

#include "base/ascii_case.h"

namespace nereid::api {
namespace {

/// Returns "the role 'manage'" or "one of the roles 'infer' or 'manage'".
std::string Needed(RoleSet roles) {
  std::string words;
  int count = 0;
  for (const auto& [role, word] :
       {std::pair{Role::kInfer, "infer"}, std::pair{Role::kObserve, "observe"},
        std::pair{Role::kManage, "manage"}}) {
    if (!roles.Has(role)) continue;
    if (count++ != 0) words += " or ";
    words += std::string("'") + word + "'";
  }
  return (count == 1 ? "the role " : "one of the roles ") + words;
}

}  // namespace

AccessGate::AccessGate(AccessRules rules) : rules_(std::move(rules)) {
  restriction_of_.fill(-1);
  for (size_t i = 0; i < rules_.restrictions.size(); ++i) {
    restriction_of_[static_cast<size_t>(rules_.restrictions[i].category)] = static_cast<int>(i);
  }
}

const Restriction* AccessGate::FindViolated(Operation operation, const Caller& caller) const {
  const int place = restriction_of_[static_cast<size_t>(FactsOf(operation).category)];
  if (place < 0) return nullptr;
  const Restriction& restriction = rules_.restrictions[static_cast<size_t>(place)];
  for (const HeaderField& field : caller.fields) {
    if (!base::EqualsIgnoringCase(field.name, restriction.header)) continue;
    // Of several fields the first one counts, as in Triton.
    return field.value == restriction.value ? nullptr : &restriction;
  }
  return &restriction;
}

bool AccessGate::IsOpen(const OperationFacts& facts) const {
  return rules_.file == nullptr || facts.is_public || (facts.is_probe && !rules_.protects_health);
}

Admission AccessGate::Admit(Operation operation, const Caller& caller) const {
  Admission admission;
  if (const Restriction* violated = FindViolated(operation, caller)) {
    admission.refusal = {RefusalKind::kRestricted, "This " + std::string(rules_.restricted_word) +
                                                       " is restricted, expecting header '" +
                                                       violated->header + "'"};
    return admission;
  }
  const OperationFacts& facts = FactsOf(operation);
  if (!IsOpen(facts)) {
    const std::optional<RoleSet> roles = rules_.file->policy()->RolesOf(caller);
    if (!roles) {
      admission.roles = {};
      admission.refusal = {RefusalKind::kUnauthenticated,
                           "this operation needs " + Needed(facts.roles) +
                               ": send a valid token as 'Authorization: Bearer <token>'"};
      return admission;
    }
    admission.roles = *roles;
  }
  admission.refusal = Check(operation, admission.roles);
  return admission;
}

AccessRefusal AccessGate::Check(Operation operation, RoleSet roles) const {
  const OperationFacts& facts = FactsOf(operation);
  if (!IsOpen(facts) && !roles.Meets(facts.roles)) {
    return {RefusalKind::kForbidden, "this operation needs " + Needed(facts.roles)};
  }
  if (!rules_.serves_management && IsManagement(operation)) {
    return {RefusalKind::kForbidden,
            "this operation is served at the server's address for management only"};
  }
  return {};
}

bool AccessGate::NeedsField(std::string_view name) const {
  if (rules_.file != nullptr && base::EqualsIgnoringCase(name, kAuthorization)) return true;
  for (const Restriction& restriction : rules_.restrictions) {
    if (base::EqualsIgnoringCase(name, restriction.header)) return true;
  }
  return false;
}

bool AccessGate::IsSecret(std::string_view name) const {
  return rules_.file != nullptr && base::EqualsIgnoringCase(name, kAuthorization);
}

}  // namespace nereid::api
