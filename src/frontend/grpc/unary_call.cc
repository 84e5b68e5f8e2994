// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/unary_call.h"

#include <utility>

namespace nereid::frontend::grpc {

void UnaryCall::OnMessage(StoredBytes message) {
  if (request_.has_value()) {
    Finish({kGrpcInternal, "the call carries more than one request message"});
    return;
  }
  request_ = std::move(message);
}

void UnaryCall::OnHalfClose() {
  if (!request_.has_value()) {
    Finish({kGrpcInternal, "the call ended without a request message"});
    return;
  }
  StoredBytes request = std::move(*request_);
  is_complete_ = true;
  OnRequest(std::move(request));
}

void UnaryCall::OnDelivery(Delivery delivery) {
  if (EndIfTooLate()) return;
  if (delivery.message.has_value()) SendMessage(std::move(*delivery.message));
  Finish(delivery.status.value_or(CallStatus{}));
}

}  // namespace nereid::frontend::grpc
