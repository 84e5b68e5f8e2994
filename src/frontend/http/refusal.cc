// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/refusal.h"

namespace nereid::frontend::http {

Refusal RefusalOf(memory::ReceiveBuffer::Outcome outcome) {
  if (outcome == memory::ReceiveBuffer::Outcome::kOverBudget) {
    return {503,
            "the requests that the server holds have taken all the memory that they may use. Try "
            "again later, or use --max-request-memory to increase the limit."};
  }
  return {503, "not enough memory for the request's body"};
}

}  // namespace nereid::frontend::http
