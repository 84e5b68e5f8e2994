// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/infer_call.h"

#include <string>
#include <utility>

#include "api/access_target.h"
#include "base/clock.h"
#include "frontend/http2/exception_guard.h"

namespace nereid::frontend::grpc {

using api::RefusedAt;

InferCall::InferCall(const CallOrigin& origin)
    : UnaryCall(origin, ResponseFraming(origin.context, origin.head)),
      fields_(origin.head.fields),
      wait_start_ns_(WaitStart(origin.context)),
      trace_headers_(TraceHeadersOf(origin.context, origin.head)) {
  inbound_.ReceiveTensorsApart();
}

// The session drops a call when all of it has been sent.
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
  auto request = std::make_unique<request::InferenceRequest>();
  cancellation_ = request->cancellation();
  if (!IsHeavy(message)) {
    const base::Status status = Submit(std::move(request), std::move(message), deadline_ns());
    if (!status.ok()) Finish(CallStatus::From(status));
    return;
  }
  // std::function requires a copyable function.
  struct Work {
    std::unique_ptr<request::InferenceRequest> request;
    StoredBytes message;
  };
  auto work = std::make_shared<Work>(Work{std::move(request), std::move(message)});
  Detour([this, work, deadline = deadline_ns()]() -> Return {
    const base::Status status =
        Submit(std::move(work->request), std::move(work->message), deadline);
    return [this, status] {
      if (!status.ok()) Finish(CallStatus::From(status));
    };
  });
}

// Also runs on a detour's thread. No other thread uses the members that it sets: Send() is called
// after the submission, and OnCancelled() uses only the Cancellation, which was set before.
base::Status InferCall::Submit(std::unique_ptr<request::InferenceRequest> request,
                               StoredBytes message, uint64_t deadline_ns) {
  codec::proto::InferRequestView& view = ThreadRequestView();
  NEREID_RETURN_IF_ERROR(Counted(context_, RefusedAt::kMessage, ParseRequest(message, &view)));
  // First, so that the line of a refused request names its model, too.
  if (access_record_ != nullptr) access_record_->SetTarget(view.model_name, view.id);
  const base::Result<InferTarget> found = FindTarget(context_, view);
  NEREID_RETURN_IF_ERROR(Counted(context_, RefusedAt::kSubmission, found.status()));
  const InferTarget& target = *found;
  if (target.traits.decoupled) {
    return Counted(context_, RefusedAt::kSubmission,
                   base::Status::Unsupported(
                       "ModelInfer RPC doesn't support models with decoupled transaction policy"));
  }
  codec::proto::ResponseOptions response_options;
  NEREID_RETURN_IF_ERROR(
      Counted(context_, RefusedAt::kMessage,
              FillRequest(context_, view, target, std::move(message), {deadline_ns, fields_},
                          request.get(), &response_options)));
  request->SetSink(std::static_pointer_cast<InferCall>(shared_from_this()));
  classifications_ = std::move(response_options.classifications);
  trace_ = StartTrace(context_, *request, wait_start_ns_, trace_headers_.get());
  api::SetTrace(*request, access_record_.get());
  return Counted(context_, RefusedAt::kSubmission, context_.service.Infer(request));
}

void InferCall::OnCancelled() {
  if (cancellation_ != nullptr) cancellation_->Cancel();
}

void InferCall::Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept {
  if (response != nullptr && ++response_count_ == 1) response_ = std::move(response);
  if (!final) return;
  const bool answered = http2::Guarded("gRPC: an answer", false, [this] {
    CompleteAndDeliver(Answer());
    return true;
  });
  if (answered) return;
  Delivery failure;
  failure.status = CallStatus{kGrpcResourceExhausted, "out of memory"};
  Deliver(std::move(failure));
}

// The client gets the bytes as they are, whatever another process does with them, unless classes
// are computed of them.
base::Status InferCall::LendOutput(request::Output* output, request::LentBytes bytes) noexcept {
  if (classifications_.empty() && bytes.memory_type != memory::MemoryType::kGpu) {
    return Refer(output, std::move(bytes));
  }
  return ResponseSink::LendOutput(output, std::move(bytes));
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
  return delivery;
}

}  // namespace nereid::frontend::grpc
