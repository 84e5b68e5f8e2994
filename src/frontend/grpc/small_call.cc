// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/small_call.h"

#include <memory>
#include <utility>

#include "frontend/grpc/server_context.h"

namespace nereid::frontend::grpc {

Delivery SmallCall::Answer(std::string_view request) {
  Delivery delivery;
  codec::proto::EncodedMessage reply;
  delivery.status = method_.handler(context_, {request, client_}, &reply);
  if (delivery.status->code == kGrpcOk) delivery.message = std::move(reply);
  return delivery;
}

void SmallCall::OnRequest(StoredBytes message) {
  if (method_.workers == nullptr) {
    OnDelivery(Answer(message.bytes));
    return;
  }
  // std::function wants something copyable.
  auto request = std::make_shared<StoredBytes>(std::move(message));
  const auto self = std::static_pointer_cast<SmallCall>(shared_from_this());
  const bool accepted = (context_.*method_.workers)
                            .Run({[self, request] { self->Deliver(self->Answer(request->bytes)); },
                                  [self] { return self->client_.IsCancelled(); },
                                  [] {}});  // nobody waits for an answer
  if (!accepted) Finish({kGrpcUnavailable, "the server is exiting, or has too much to do"});
}

}  // namespace nereid::frontend::grpc
