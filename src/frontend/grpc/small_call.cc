// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/small_call.h"

#include <memory>
#include <utility>

#include "frontend/grpc/exception_guard.h"
#include "frontend/grpc/server_context.h"

namespace nereid::frontend::grpc {
namespace {

// A longer request is not decoded on an event loop.
constexpr size_t kShortRequest = size_t{64} << 10;

Delivery Answer(const UnaryMethod& method, ServerContext& context, std::string_view request) {
  Delivery delivery;
  codec::proto::EncodedMessage reply;
  delivery.status = method.handler(context, request, &reply);
  if (delivery.status->code == kGrpcOk) delivery.message = std::move(reply);
  return delivery;
}

}  // namespace

void SmallCall::OnRequest(StoredBytes message) {
  if (!method_.blocks && !method_.is_long && message.bytes.size() <= kShortRequest) {
    OnDelivery(Answer(method_, context_, message.bytes));
    return;
  }
  base::BlockingWorkers& workers = method_.blocks ? context_.workers : *context_.detours;
  // std::function wants something copyable.
  auto request = std::make_shared<StoredBytes>(std::move(message));
  const bool accepted =
      workers.Run([self = shared_from_this(), &method = method_, &context = context_, request] {
        Delivery delivery;
        const bool answered = Guarded("a call", false, [&] {
          delivery = Answer(method, context, request->bytes);
          return true;
        });
        if (!answered) delivery.status.emplace(kGrpcResourceExhausted, "out of memory");
        self->Deliver(std::move(delivery));
      });
  if (accepted) return;
  if (context_.stopping.load(std::memory_order_acquire)) {
    Finish({kGrpcUnavailable, "Server exiting"});
  } else {
    Finish({kGrpcResourceExhausted, "too many calls wait for their turn: try again later"});
  }
}

void SmallCall::OnDelivery(Delivery delivery) {
  if (EndIfTooLate()) return;
  if (delivery.message.has_value()) SendSmallAnswer(std::move(*delivery.message));
  Finish(delivery.status.value_or(CallStatus{}));
}

}  // namespace nereid::frontend::grpc
