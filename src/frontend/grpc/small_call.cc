// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/small_call.h"

#include <memory>
#include <utility>

#include "frontend/grpc/server_context.h"

namespace nereid::frontend::grpc {
namespace {

Delivery Answer(const UnaryMethod& method, ServerContext& context, std::string_view request) {
  Delivery delivery;
  codec::proto::EncodedMessage reply;
  delivery.status = method.handler(context, request, &reply);
  if (delivery.status->code == kGrpcOk) delivery.message = std::move(reply);
  return delivery;
}

}  // namespace

void SmallCall::OnRequest(StoredBytes message) {
  if (!method_.blocks) {
    OnDelivery(Answer(method_, context_, message.bytes));
    return;
  }
  // std::function wants something copyable.
  auto request = std::make_shared<StoredBytes>(std::move(message));
  const bool accepted =
      context_.workers.Run([self = shared_from_this(), &method = method_, &context = context_,
                            request] { self->Deliver(Answer(method, context, request->bytes)); });
  if (!accepted) Finish({kGrpcUnavailable, "Server exiting"});
}

}  // namespace nereid::frontend::grpc
