// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/stream_infer_call.h"

#include <string>
#include <utility>

#include "base/clock.h"
#include "request/response_sink.h"

namespace nereid::frontend::grpc {
namespace {

using codec::proto::EncodedMessage;
using codec::proto::StreamNotice;

// What the answers to one request repeat of it.
struct RequestNames {
  std::string id, model_name, model_version;
};

// Turns the responses of one request of a stream into messages of the call.
class StreamRequest final : public request::ResponseSink {
 public:
  StreamRequest(std::shared_ptr<Call> call, std::shared_ptr<base::ByteBudget> budget,
                uint64_t number, RequestNames names, bool decoupled, bool errors_end_call)
      : call_(std::move(call)),
        budget_(std::move(budget)),
        number_(number),
        names_(std::move(names)),
        decoupled_(decoupled),
        errors_end_call_(errors_end_call) {}

  /// Before submission.
  void Prepare(codec::proto::InferWishes wishes,
               std::shared_ptr<request::Cancellation> cancellation) {
    wishes_ = std::move(wishes);
    cancellation_ = std::move(cancellation);
  }

  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override {
    if (given_up_) return;
    Delivery delivery;
    delivery.request = number_;
    delivery.final = final;
    if (response == nullptr) {
      if (final && wishes_.empty_final_response) delivery.message = Notice({}, final);
    } else if (response->error().ok()) {
      delivery.message = Encode(std::move(response), final);
    } else if (errors_end_call_) {
      delivery.status = CallStatus::From(response->error());
    } else {
      delivery.message = Notice(response->error().message(), final);
    }
    if (delivery.message.has_value()) {
      call_->FinishMessage(&*delivery.message);
      if (!budget_->Take(delivery.message->size, decoupled_, &delivery.waiting)) {
        GiveUp(&delivery);
      }
    }
    call_->Deliver(std::move(delivery));
  }

 private:
  // The client does not read, or not enough, or not any more: the request ends here.
  void GiveUp(Delivery* delivery) {
    given_up_ = true;
    cancellation_->Cancel();
    const std::string text = "the stream's client reads too slowly: more than " +
                             std::to_string(budget_->limit()) +
                             " bytes of responses wait for it, so this request was ended";
    delivery->final = true;
    delivery->message.reset();
    if (errors_end_call_) {
      delivery->status = CallStatus{kGrpcResourceExhausted, text};
      return;
    }
    delivery->message = Notice(text, true);
    call_->FinishMessage(&*delivery->message);
    delivery->waiting = budget_->Force(delivery->message->size);
  }

  EncodedMessage Encode(std::unique_ptr<request::InferenceResponse> response, bool final) const {
    const base::Status classified = request::Classify(wishes_.classifications, response.get());
    if (!classified.ok()) return Notice(classified.message(), final);
    auto encoded = codec::proto::EncodeInferResponse(
        std::move(response),
        {.headroom = kMessagePrefixSize, .stream = true, .final_response = final});
    return encoded.ok() ? std::move(encoded).value() : Notice(encoded.status().message(), final);
  }

  EncodedMessage Notice(std::string_view error, bool final) const {
    return codec::proto::EncodeStreamNotice({.error_message = error,
                                             .id = names_.id,
                                             .model_name = names_.model_name,
                                             .model_version = names_.model_version,
                                             .final_response = final},
                                            kMessagePrefixSize);
  }

  const std::shared_ptr<Call> call_;
  const std::shared_ptr<base::ByteBudget> budget_;
  const uint64_t number_;
  const RequestNames names_;
  const bool decoupled_;
  const bool errors_end_call_;
  codec::proto::InferWishes wishes_;
  std::shared_ptr<request::Cancellation> cancellation_;
  bool given_up_ = false;  // no lock: responses of one request are sent one at a time
};

}  // namespace

StreamInferCall::StreamInferCall(const CallOrigin& origin)
    : Call(origin),
      errors_end_call_(origin.head.stream_errors_end_call),
      budget_(std::make_shared<base::ByteBudget>(origin.context.options.max_waiting_bytes,
                                                 origin.context.options.slow_reader_patience)),
      wait_start_ns_(WaitStart(origin.context)) {
  CompressResponses(origin.head);
}

void StreamInferCall::OnMessage(StoredBytes message) {
  codec::proto::InferRequestView& view = ThreadRequestView();
  base::Status status = view.Parse(message.bytes);
  if (!status.ok()) {
    OnCancelled();
    Finish(CallStatus::From(status));
    return;
  }
  const uint64_t number = next_number_++;
  const std::string id(view.id);  // the message may be gone when a failure is reported
  auto target = FindTarget(context_, view);
  // An unknown model counts as not decoupled.
  const bool decoupled = target.ok() && target->traits.decoupled;
  Running* const running = &(decoupled ? decoupled_ : ordered_)[number];
  status =
      target.ok() ? Submit(view, *target, std::move(message), number, running) : target.status();
  if (status.ok()) return;
  Delivery failure;
  failure.request = number;
  failure.final = true;
  failure.message = codec::proto::EncodeStreamNotice({.error_message = status.message(), .id = id},
                                                     kMessagePrefixSize);
  FinishMessage(&*failure.message);
  failure.waiting = budget_->Force(failure.message->size);
  OnDelivery(std::move(failure));
}

base::Status StreamInferCall::Submit(const codec::proto::InferRequestView& view,
                                     const InferTarget& target, StoredBytes message,
                                     uint64_t number, Running* running) {
  auto sink = std::make_shared<StreamRequest>(
      shared_from_this(), budget_, number,
      RequestNames{std::string(view.id), std::string(view.model_name),
                   std::string(view.model_version)},
      target.traits.decoupled, errors_end_call_);
  codec::proto::InferWishes wishes;
  NEREID_ASSIGN_OR_RETURN(auto request, MakeRequest(context_, view, target, std::move(message),
                                                    deadline_ns(), &wishes));
  sink->Prepare(std::move(wishes), request->cancellation());
  request->SetSink(std::move(sink));
  // Set before submission: the responses may come, and end the entry, before Infer returns.
  running->cancellation = request->cancellation();
  running->trace = StartTrace(context_, *request, wait_start_ns_);
  wait_start_ns_ = WaitStart(context_);
  return context_.service.Infer(request);
}

void StreamInferCall::OnHalfClose() {
  half_closed_ = true;
  FinishIfDone();
}

void StreamInferCall::OnCancelled() {
  budget_->Close();
  for (const RunningRequests* requests : {&ordered_, &decoupled_}) {
    for (const auto& [number, running] : *requests) {
      if (running.cancellation != nullptr) running.cancellation->Cancel();
    }
  }
  ordered_.clear();
  decoupled_.clear();
}

void StreamInferCall::OnDelivery(Delivery delivery) {
  if (EndIfTooLate()) return;
  const auto ordered = ordered_.find(delivery.request);
  const auto decoupled = decoupled_.find(delivery.request);
  if (finished() || (ordered == ordered_.end() && decoupled == decoupled_.end())) return;
  if (delivery.status.has_value()) {
    OnCancelled();
    Finish(std::move(*delivery.status));
    return;
  }
  if (decoupled != decoupled_.end()) {
    if (delivery.message.has_value()) {
      StampSend(decoupled->second, "GRPC_SEND_START");
      SendMessage(std::move(*delivery.message), std::move(delivery.waiting));
      StampSend(decoupled->second, "GRPC_SEND_END");
    }
    if (delivery.final) decoupled_.erase(decoupled);
  } else {
    if (delivery.message.has_value()) {
      ordered->second.held.push_back({std::move(*delivery.message), std::move(delivery.waiting)});
    }
    ordered->second.complete = delivery.final;
    Advance();
  }
  FinishIfDone();
}

void StreamInferCall::StampSend(const Running& running, std::string_view name) {
  if (running.trace != nullptr) running.trace->Stamp(name, base::SteadyClock().NowNs());
}

void StreamInferCall::Advance() {
  while (!ordered_.empty()) {
    const auto first = ordered_.begin();
    for (Held& held : first->second.held) {
      StampSend(first->second, "GRPC_SEND_START");
      SendMessage(std::move(held.message), std::move(held.waiting));
      StampSend(first->second, "GRPC_SEND_END");
    }
    first->second.held.clear();
    if (!first->second.complete) return;
    ordered_.erase(first);
  }
}

void StreamInferCall::FinishIfDone() {
  if (!IsIdle()) return;
  if (half_closed_) return Finish({});
  if (context_.stopping.load(std::memory_order_acquire)) EndIfIdle();
}

}  // namespace nereid::frontend::grpc
