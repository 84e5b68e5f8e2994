// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/access_gate.h"
#include "frontend/http/exchange.h"

namespace nereid::frontend::http {

/// Returns whether the caller of `exchange` may call `operation`. If not, the reply says why, and
/// the handler has only to finish the exchange. A null gate admits everyone.
bool Admit(const api::AccessGate* gate, api::Operation operation, Exchange& exchange);

}  // namespace nereid::frontend::http
