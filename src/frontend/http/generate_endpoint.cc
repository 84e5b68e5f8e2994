// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/generate_endpoint.h"

#include <string>
#include <utility>

#include "api/status_map.h"
#include "api/version_text.h"
#include "codec/json/generate.h"
#include "frontend/http/content_encoding.h"
#include "frontend/http/infer_endpoint.h"
#include "frontend/http/reply_stream.h"
#include "frontend/http/start_trace.h"
#include "request/response_sink.h"

namespace nereid::frontend::http {
namespace {

using base::Status;

constexpr std::string_view kEventType = "text/event-stream; charset=utf-8";
constexpr std::string_view kLateEvent =
    "data: {\"error\":\"the deadline of the request has passed\"}\n\n";

/// Turns the responses of one request into events.
class EventSink final : public request::ResponseSink {
 public:
  EventSink(std::shared_ptr<ReplyStream> stream,
            std::shared_ptr<request::Cancellation> cancellation, bool decoupled)
      : stream_(std::move(stream)), cancellation_(std::move(cancellation)), decoupled_(decoupled) {}

  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override {
    if (response != nullptr && !given_up_) {
      int status = 200;
      std::string event = Encode(*response, &status);
      response.reset();
      if (!stream_->Write(status, std::move(event), decoupled_)) GiveUp();
    }
    if (final) stream_->End();
  }

 private:
  static std::string Event(const codec::json::TextBuffer& json) {
    std::string event;
    event.reserve(json.size() + 8);
    event.append("data: ").append(json.view()).append("\n\n");
    return event;
  }

  static std::string ErrorEvent(std::string_view message) {
    codec::json::TextBuffer json;
    json << "{\"error\":";
    json.AppendMessage(message) << '}';
    return Event(json);
  }

  static std::string Encode(const request::InferenceResponse& response, int* status) {
    Status failure = response.error();
    if (failure.ok()) {
      codec::json::TextBuffer json;
      failure = codec::json::EncodeGenerateResponse(response, &json);
      if (failure.ok()) return Event(json);
    }
    *status = api::HttpStatus(failure.code());
    return ErrorEvent(failure.message());
  }

  /// The client does not read, or not enough, or not any more.
  void GiveUp() {
    given_up_ = true;
    cancellation_->Cancel();
    stream_->EndWith(503, ErrorEvent("the client reads too slowly: more than " +
                                     std::to_string(stream_->limit()) +
                                     " bytes of responses wait for it, so the request was ended"));
  }

  const std::shared_ptr<ReplyStream> stream_;
  const std::shared_ptr<request::Cancellation> cancellation_;
  const bool decoupled_;
  bool given_up_ = false;  // no lock: responses of one request are sent one at a time
};

}  // namespace

void GenerateEndpoint::Handle(Exchange& exchange, const Route& route) const {
  const Status status = Submit(exchange, route);
  if (status.ok()) return;
  if (exchange.head.IsTooLate()) {
    exchange.reply.SetTooLate();
  } else {
    exchange.reply.SetError(api::HttpStatus(status.code()), kJsonType, status.message());
  }
  exchange.Finish();
}

Status GenerateEndpoint::Submit(Exchange& exchange, const Route& route) const {
  NEREID_ASSIGN_OR_RETURN(const int64_t version, api::ParseVersionText(route.version));
  auto request = std::make_unique<request::InferenceRequest>();
  request->model_name.assign(route.model);
  request->model_version = version;
  NEREID_ASSIGN_OR_RETURN(const api::ModelTraits traits,
                          service_.FindModel(request->model_name, version));
  if (const auto encoding = EncodingFromName(exchange.head.content_encoding);
      !encoding.ok() || *encoding != Encoding::kIdentity) {
    return Status::InvalidArgument("Unsupported content-encoding, only 'identity' is supported.");
  }
  if (!exchange.head.bad_timeout.empty()) {
    return Status::InvalidArgument(exchange.head.bad_timeout);
  }
  NEREID_ASSIGN_OR_RETURN(const api::ModelMetadata metadata,
                          service_.GetModelMetadata(request->model_name, version));
  codec::json::DecodeLimits limits;
  limits.max_json_size = options_.max_input_size;
  NEREID_RETURN_IF_ERROR(codec::json::DecodeGenerateRequest(exchange.body.view(), metadata.inputs,
                                                            limits, request.get()));
  // Several responses may take long, and may have to wait for the client.
  request->may_run_inline = options_.run_inline && !traits.decoupled;
  request->deadline_ns = exchange.head.deadline_ns;
  if (route.endpoint == Endpoint::kGenerateStream) {
    request->SetSink(std::make_shared<EventSink>(
        exchange.BeginStream(request->cancellation(), kEventType, kLateEvent),
        request->cancellation(), traits.decoupled));
  } else {
    exchange.answer_form = AnswerForm::kGenerate;
    request->SetSink(exchange.BecomeSink(request->cancellation()));
  }
  StartTrace(options_.tracer, exchange, *request);
  Status status = service_.Infer(request);
  if (!status.ok()) exchange.ResignSink();
  return status;
}

void GenerateEndpoint::Answer(Exchange& exchange,
                              std::unique_ptr<request::InferenceResponse> response,
                              int count) const {
  Status status;
  if (count != 1) {
    status = Status::Internal(
        "generate expects model to produce exactly 1 response, use generate stream for model that "
        "generates various number of responses");
  } else if (!response->error().ok()) {
    if (exchange.head.IsTooLate()) return exchange.reply.SetTooLate();
    status = response->error();
  } else {
    status = codec::json::EncodeGenerateResponse(*response, &exchange.reply.text);
    exchange.reply.content_type = kJsonType;
  }
  if (!status.ok()) {
    exchange.reply.SetError(api::HttpStatus(status.code()), kJsonType, status.message());
  }
}

}  // namespace nereid::frontend::http
