// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/admission.h"

#include "api/status_map.h"

namespace nereid::frontend::http {

namespace {

void SetRefusal(const api::AccessRefusal& refusal, Reply* reply) {
  const bool is_tritons = refusal.kind == api::RefusalKind::kRestricted;
  const std::string_view type = is_tritons ? kTextType : kJsonType;
  reply->SetError(api::HttpStatus(refusal.kind), type, refusal.text);
  // RFC 6750, section 3: says how to authenticate, and nothing about a token that did not suffice.
  if (refusal.kind == api::RefusalKind::kUnauthenticated) {
    reply->extra_fields = "WWW-Authenticate: Bearer\r\n";
  }
}

}  // namespace

bool Admit(const api::AccessGate* gate, api::Operation operation, Exchange& exchange) {
  if (gate == nullptr) return true;
  const api::Admission admission =
      gate->Admit(operation, api::MakeCaller(exchange.head().fields, exchange.peer()));
  if (admission.ok()) return true;
  SetRefusal(admission.refusal, &exchange.reply());
  return false;
}

}  // namespace nereid::frontend::http
