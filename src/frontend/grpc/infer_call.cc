// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/infer_call.h"

#include <string>
#include <utility>

#include "base/clock.h"

namespace nereid::frontend::grpc {

InferCall::InferCall(const CallOrigin& origin)
    : UnaryCall(origin), wait_start_ns_(WaitStart(origin.context)) {
  CompressResponses(origin.head);
}

// The session lets go of a call when all of it has been sent.
InferCall::~InferCall() {
  if (trace_ != nullptr && sending_) trace_->Stamp("GRPC_SEND_END", base::SteadyClock().NowNs());
}

void InferCall::OnDelivery(Delivery delivery) {
  if (trace_ != nullptr && !sending_) {
    trace_->Stamp("GRPC_SEND_START", base::SteadyClock().NowNs());
    sending_ = true;
  }
  UnaryCall::OnDelivery(std::move(delivery));
}

void InferCall::OnRequest(StoredBytes message) {
  const base::Status status = Submit(std::move(message));
  if (!status.ok()) Finish(CallStatus::From(status));
}

base::Status InferCall::Submit(StoredBytes message) {
  codec::proto::InferRequestView& view = ThreadRequestView();
  NEREID_RETURN_IF_ERROR(view.Parse(message.bytes));
  NEREID_ASSIGN_OR_RETURN(const InferTarget target, FindTarget(context_, view));
  if (target.traits.decoupled) {
    return base::Status::Unsupported(
        "ModelInfer RPC doesn't support models with decoupled transaction policy");
  }
  codec::proto::InferWishes wishes;
  NEREID_ASSIGN_OR_RETURN(auto request, MakeRequest(context_, view, target, std::move(message),
                                                    deadline_ns(), &wishes));
  request->SetSink(std::static_pointer_cast<InferCall>(shared_from_this()));
  cancellation_ = request->cancellation();
  classifications_ = std::move(wishes.classifications);
  trace_ = StartTrace(context_, *request, wait_start_ns_);
  const base::Status status = context_.service.Infer(request);
  if (!status.ok()) cancellation_.reset();
  return status;
}

void InferCall::OnCancelled() {
  if (cancellation_ != nullptr) cancellation_->Cancel();
}

void InferCall::Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept {
  if (response != nullptr && ++response_count_ == 1) response_ = std::move(response);
  if (final) Deliver(Answer());
}

Delivery InferCall::Answer() {
  Delivery delivery;
  std::unique_ptr<request::InferenceResponse> response = std::move(response_);
  if (response_count_ != 1) {
    delivery.status = CallStatus{
        kGrpcInternal, "expected a single response, got " + std::to_string(response_count_)};
    return delivery;
  }
  if (!response->error().ok()) {
    delivery.status = CallStatus::From(response->error());
    return delivery;
  }
  if (const base::Status status = request::Classify(classifications_, response.get());
      !status.ok()) {
    delivery.status = CallStatus::From(status);
    return delivery;
  }
  auto encoded =
      codec::proto::EncodeInferResponse(std::move(response), {.headroom = kMessagePrefixSize});
  if (!encoded.ok()) {
    delivery.status = CallStatus::From(encoded.status());
    return delivery;
  }
  delivery.message = std::move(encoded).value();
  FinishMessage(&*delivery.message);
  return delivery;
}

}  // namespace nereid::frontend::grpc
