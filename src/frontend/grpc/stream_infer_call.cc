// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/stream_infer_call.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/access_target.h"
#include "api/status_map.h"
#include "base/clock.h"
#include "frontend/grpc/begin_access_record.h"
#include "frontend/http2/exception_guard.h"
#include "request/response_sink.h"

namespace nereid::frontend::grpc {
namespace {

using api::RefusedAt;
using codec::proto::EncodedMessage;

constexpr std::string_view kPath = "/inference.GRPCInferenceService/ModelStreamInfer";

// The fields of a request that its responses repeat.
struct RequestNames {
  std::string id, model_name, model_version;
};

// Turns the responses of one request of a stream into messages of the call.
class StreamRequest final : public request::ResponseSink {
 public:
  /// Each response takes at least `least_charge` bytes of the budget.
  StreamRequest(std::shared_ptr<Call> call, std::shared_ptr<base::ByteBudget> budget,
                size_t least_charge, uint64_t number, RequestNames names, bool decoupled,
                bool errors_end_call)
      : call_(std::move(call)),
        budget_(std::move(budget)),
        least_charge_(least_charge),
        number_(number),
        names_(std::move(names)),
        decoupled_(decoupled),
        errors_end_call_(errors_end_call) {}

  /// Before submission.
  void Prepare(codec::proto::ResponseOptions response_options,
               std::shared_ptr<request::Cancellation> cancellation) {
    response_options_ = std::move(response_options);
    cancellation_ = std::move(cancellation);
  }

  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override {
    if (given_up_) return;
    if (!decoupled_) {
      // A client expects one response: the first one counts.
      if (response != nullptr && first_ == nullptr) first_ = std::move(response);
      if (!final) return;
      response = std::move(first_);
    }
    const bool sent = http2::Guarded("gRPC: an answer", false, [&] {
      DeliverOne(std::move(response), final);
      return true;
    });
    if (!sent) GiveUpWithoutMemory();
  }

 private:
  void DeliverOne(std::unique_ptr<request::InferenceResponse> response, bool final) {
    Delivery delivery;
    delivery.request = number_;
    delivery.final = final;
    if (response == nullptr) {
      if (final && response_options_.empty_final_response) delivery.message = Notice({}, final);
    } else if (response->error().ok()) {
      delivery.message = Encode(std::move(response), final);
    } else if (errors_end_call_) {
      delivery.status = CallStatus::From(response->error());
    } else {
      delivery.message = Notice(response->error().message(), final);
      delivery.refusal = api::GrpcStatus(response->error().code());
    }
    if (delivery.message.has_value()) {
      call_->framing().Complete(&*delivery.message);
      const size_t charge = std::max(delivery.message->size, least_charge_);
      if (!budget_->Take(charge, decoupled_, &delivery.waiting)) {
        GiveUp(&delivery);
      }
    }
    call_->Deliver(std::move(delivery));
  }

  // Ends the stream: there is no memory for a message that names the failed request.
  void GiveUpWithoutMemory() noexcept {
    given_up_ = true;
    cancellation_->Cancel();
    Delivery failure;
    failure.request = number_;
    failure.final = true;
    failure.status = CallStatus{kGrpcResourceExhausted, "out of memory"};
    call_->Deliver(std::move(failure));
  }

  // Ends the request, because its client does not read, reads too slowly or has disconnected.
  void GiveUp(Delivery* delivery) {
    given_up_ = true;
    cancellation_->Cancel();
    const std::string most =
        least_charge_ > 0 ? std::to_string(budget_->limit() / least_charge_) + " responses or "
                          : std::string();
    const std::string text = "the stream's client reads too slowly: more than " + most +
                             std::to_string(budget_->limit()) +
                             " bytes of responses wait for it, so this request was ended";
    delivery->final = true;
    delivery->message.reset();
    if (errors_end_call_) {
      delivery->status = CallStatus{kGrpcResourceExhausted, text};
      return;
    }
    delivery->message = Notice(text, true);
    delivery->refusal = kGrpcResourceExhausted;
    call_->framing().Complete(&*delivery->message);
    delivery->waiting = budget_->Force(delivery->message->size);
  }

  EncodedMessage Encode(std::unique_ptr<request::InferenceResponse> response, bool final) const {
    const base::Status classified =
        request::Classify(response_options_.classifications, response.get());
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
  const size_t least_charge_;
  const uint64_t number_;
  const RequestNames names_;
  const bool decoupled_;
  const bool errors_end_call_;
  codec::proto::ResponseOptions response_options_;
  std::shared_ptr<request::Cancellation> cancellation_;
  // No lock: responses of one request are sent one at a time.
  bool given_up_ = false;
  std::unique_ptr<request::InferenceResponse> first_;  // of a model that is not decoupled
};

}  // namespace

StreamInferCall::StreamInferCall(const CallOrigin& origin)
    : Call(origin, ResponseFraming(origin.context, origin.head)),
      errors_end_call_(origin.head.stream_errors_end_call),
      fields_(origin.head.fields),
      budget_(std::make_shared<base::ByteBudget>(origin.context.options.max_waiting_bytes,
                                                 origin.context.options.slow_reader_patience)),
      trace_headers_(TraceHeadersOf(origin.context, origin.head)),
      wait_start_ns_(WaitStart(origin.context)) {
  inbound_.ReceiveTensorsApart();
}

// A request between its message and its submission.
struct StreamInferCall::Prepared {
  std::unique_ptr<request::InferenceRequest> request =
      std::make_unique<request::InferenceRequest>();
  codec::proto::ResponseOptions response_options;
  RequestNames names;
  size_t size = 0;         // of the message
  bool decoupled = false;  // an unknown model counts as not decoupled
  bool is_heavy = false;
  bool is_malformed = false;
  base::Status status;
};

StreamInferCall::Prepared StreamInferCall::Prepare(StoredBytes message,
                                                   uint64_t deadline_ns) const {
  Prepared prepared;
  prepared.size = message.wire_size;
  codec::proto::InferRequestView& view = ThreadRequestView();
  prepared.status = Counted(context_, RefusedAt::kMessage, ParseRequest(message, &view));
  prepared.is_malformed = !prepared.status.ok();
  if (prepared.is_malformed) return prepared;
  // The message may be gone when a failure is reported.
  prepared.names = {std::string(view.id), std::string(view.model_name),
                    std::string(view.model_version)};
  const auto target = FindTarget(context_, view);
  if (!target.ok()) {
    prepared.status = Counted(context_, RefusedAt::kSubmission, target.status());
    return prepared;
  }
  prepared.decoupled = target->traits.decoupled;
  prepared.status =
      Counted(context_, RefusedAt::kMessage,
              FillRequest(context_, view, *target, std::move(message), {deadline_ns, fields_},
                          prepared.request.get(), &prepared.response_options));
  return prepared;
}

void StreamInferCall::OnMessage(StoredBytes message) {
  if (!IsHeavy(message)) return BeginRequest(Prepare(std::move(message), deadline_ns()));
  // std::function requires a copyable function.
  auto held = std::make_shared<StoredBytes>(std::move(message));
  Detour([this, held, deadline = deadline_ns()]() -> Return {
    auto prepared = std::make_shared<Prepared>(Prepare(std::move(*held), deadline));
    prepared->is_heavy = true;
    return [this, prepared] { BeginRequest(std::move(*prepared)); };
  });
}

void StreamInferCall::BeginRequest(Prepared prepared) {
  // A message that is no ModelInferRequest ends the stream, as with every gRPC server. A request
  // that cannot be served is answered with an error message, and the stream goes on.
  if (prepared.is_malformed) return End(CallStatus::From(prepared.status));
  const uint64_t number = next_number_++;
  Running& running = (prepared.decoupled ? decoupled_ : ordered_)[number];
  if (access_record_ != nullptr) {
    running.access_record = BeginAccessRecord(context_, host_, kPath, loop_.NowNs());
    running.access_record->SetTarget(prepared.names.model_name, prepared.names.id);
    running.access_record->AddReceived(kMessagePrefixSize + prepared.size);
  }
  if (!prepared.status.ok()) return Refuse(number, prepared.names.id, prepared.status);
  Bind(&prepared, number, &running);
  if (!prepared.is_heavy) {
    const base::Status status = Submit(prepared);
    if (!status.ok()) Refuse(number, prepared.names.id, status);
    return;
  }
  // The submission checks the elements of large string tensors: too long for an event loop.
  auto held = std::make_shared<Prepared>(std::move(prepared));
  Detour([this, held, number]() -> Return {
    const base::Status status = Submit(*held);
    return [this, held, number, status] {
      if (!status.ok()) Refuse(number, held->names.id, status);
    };
  });
}

base::Status StreamInferCall::Submit(Prepared& prepared) const {
  return Counted(context_, RefusedAt::kSubmission, context_.service.Infer(prepared.request));
}

void StreamInferCall::Bind(Prepared* prepared, uint64_t number, Running* running) {
  request::InferenceRequest& request = *prepared->request;
  const GrpcOptions& options = context_.options;
  const size_t least_charge =
      prepared->decoupled
          ? options.max_waiting_bytes / std::max<size_t>(1, options.max_waiting_responses)
          : 0;
  auto sink =
      std::make_shared<StreamRequest>(shared_from_this(), budget_, least_charge, number,
                                      prepared->names, prepared->decoupled, errors_end_call_);
  sink->Prepare(std::move(prepared->response_options), request.cancellation());
  request.SetSink(std::move(sink));
  // Set before submission: the responses may come, and end the entry, before Infer returns.
  running->cancellation = request.cancellation();
  running->trace = StartTrace(context_, request, wait_start_ns_, trace_headers_.get());
  api::SetTrace(request, running->access_record.get());
  wait_start_ns_ = WaitStart(context_);
}

void StreamInferCall::Refuse(uint64_t number, std::string_view id, const base::Status& status) {
  Delivery failure;
  failure.request = number;
  failure.final = true;
  failure.refusal = api::GrpcStatus(status.code());
  failure.message = codec::proto::EncodeStreamNotice({.error_message = status.message(), .id = id},
                                                     kMessagePrefixSize);
  framing().Complete(&*failure.message);
  // Always sent: the number of refusals is limited by the client's window, which is not enlarged
  // while the budget is half spent.
  failure.waiting = budget_->Force(failure.message->size);
  OnDelivery(std::move(failure));
}

void StreamInferCall::OnHalfClose() {
  half_closed_ = true;
  FinishIfDone();
}

void StreamInferCall::OnCancelled() {
  budget_->Close();
  for (RunningRequests* requests : {&ordered_, &decoupled_}) {
    for (auto& [number, running] : *requests) {
      if (running.cancellation != nullptr) running.cancellation->Cancel();
      EndRecord(&running, kGrpcCancelled);
    }
  }
  ordered_.clear();
  decoupled_.clear();
}

void StreamInferCall::OnDelivery(Delivery delivery) {
  if (EndIfTooLate()) return;
  const auto ordered = ordered_.find(delivery.request);
  const auto decoupled = decoupled_.find(delivery.request);
  // A response that arrives after the stream was cancelled belongs to no request.
  if (finished() || (ordered == ordered_.end() && decoupled == decoupled_.end())) return;
  Running& running = decoupled != decoupled_.end() ? decoupled->second : ordered->second;
  if (delivery.status.has_value()) {
    EndRecord(&running, delivery.status->code);
    return End(std::move(*delivery.status));
  }
  Record(&running, delivery);
  if (decoupled != decoupled_.end()) {
    if (delivery.message.has_value()) {
      StampSend(decoupled->second, "GRPC_SEND_START");
      SendMessage(std::move(*delivery.message), std::move(delivery.waiting));
      StampSend(decoupled->second, "GRPC_SEND_END");
    }
    if (!delivery.final) return;
    EndRecord(&running, running.code);
    decoupled_.erase(decoupled);
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

void StreamInferCall::Record(Running* running, const Delivery& delivery) {
  if (running->access_record == nullptr || !delivery.message.has_value()) return;
  running->access_record->AddSent(kMessagePrefixSize + delivery.message->size);
  if (delivery.refusal != kGrpcOk) running->code = delivery.refusal;
}

void StreamInferCall::EndRecord(Running* running, int code) const {
  if (running->access_record == nullptr) return;
  running->access_record->Write(code, loop_.NowNs());
  running->access_record.reset();
}

// Sends the responses of the first request that is not complete, and of all before it. Later ones
// stay in `held`, charged to the stream's budget, until their turn comes.
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
    EndRecord(&first->second, first->second.code);
    ordered_.erase(first);
  }
}

void StreamInferCall::FinishIfDone() {
  if (!IsIdle()) return;
  if (half_closed_) return Finish({});
  if (context_.stopping.load(std::memory_order_acquire)) EndIfIdle();
}

}  // namespace nereid::frontend::grpc
