// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/small_call.h"

#include <memory>
#include <utility>

#include "frontend/grpc/server_context.h"
#include "frontend/http2/exception_guard.h"

namespace nereid::frontend::grpc {
namespace {

// Longer requests are decoded by another thread.
constexpr size_t kMaxRequestOnLoop = size_t{64} << 10;

}  // namespace

Delivery SmallCall::Answer(std::string_view request) {
  Delivery delivery;
  codec::proto::EncodedMessage reply;
  delivery.status = method_.handler(context_, {method_, request, client_, roles_}, &reply);
  if (delivery.status->code == kGrpcOk) delivery.message = std::move(reply);
  return delivery;
}

void SmallCall::OnRequest(StoredBytes message) {
  base::BlockingWorkers* chosen = context_.WorkersFor(method_.operation);
  if (chosen == nullptr && message.bytes.size() <= kMaxRequestOnLoop) {
    OnDelivery(Answer(message.bytes));
    return;
  }
  base::BlockingWorkers& workers = chosen == nullptr ? *context_.detours : *chosen;
  // std::function requires a copyable function.
  auto request = std::make_shared<StoredBytes>(std::move(message));
  const auto self = std::static_pointer_cast<SmallCall>(shared_from_this());
  const bool accepted = workers.Run({[self, request] { self->AnswerOffLoop(request->bytes); },
                                     [self] { return self->client_.IsCancelled(); },
                                     [] {}});  // an abandoned call needs no response
  if (accepted) return;
  if (context_.stopping.load(std::memory_order_acquire)) {
    Finish({kGrpcUnavailable, "Server exiting"});
  } else {
    Finish({kGrpcResourceExhausted, "too many calls wait for their turn: try again later"});
  }
}

void SmallCall::AnswerOffLoop(std::string_view request) {
  Delivery delivery;
  const bool answered = http2::Guarded("gRPC: a call", false, [&] {
    delivery = Answer(request);
    return true;
  });
  if (!answered) delivery.status = CallStatus{kGrpcResourceExhausted, "out of memory"};
  Deliver(std::move(delivery));
}

void SmallCall::OnDelivery(Delivery delivery) {
  if (EndIfTooLate()) return;
  if (delivery.message.has_value()) SendSmallAnswer(std::move(*delivery.message));
  Finish(delivery.status.value_or(CallStatus{}));
}

}  // namespace nereid::frontend::grpc
