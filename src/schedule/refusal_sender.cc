// SPDX-License-Identifier: Apache-2.0
#include "schedule/refusal_sender.h"

#include <new>
#include <utility>

#include "request/binding.h"
#include "request/response_factory.h"

namespace nereid::schedule {

void RefusalSender::Send(Refusal refusal) const noexcept {
  refusal.request->cancellation()->SetListener(nullptr);
  try {
    observer_.OnRefused(*refusal.request, refusal.reason);
    // The place in the order is given back before the error is sent: a refusal does not wait for
    // earlier responses.
    if (order_ != nullptr) order_->Withdraw(*refusal.request->response_factory());
  } catch (const std::bad_alloc&) {
    // The answer matters more than the statistics.
  }
  request::RefuseRequest(std::move(refusal.request), std::move(refusal.error));
}

}  // namespace nereid::schedule
