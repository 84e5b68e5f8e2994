// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/generate_endpoint.h"

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/access_target.h"
#include "api/sequence_field.h"
#include "api/status_map.h"
#include "codec/json/error.h"
#include "codec/json/generate.h"
#include "frontend/http/content_encoding.h"
#include "frontend/http/infer_endpoint.h"
#include "frontend/http/large_work.h"
#include "frontend/http/reply_stream.h"
#include "frontend/http/start_trace.h"
#include "request/response_sink.h"

namespace nereid::frontend::http {
namespace {

using api::RefusedAt;
using base::Status;

constexpr StreamForm kEvents = {
    "text/event-stream; charset=utf-8",
    "data: {\"error\":\"the deadline of the request has passed\"}\n\n",
    ":\n\n",  // a comment
};

/// The sink of a streamed request: writes each response to the stream as a server-sent event.
class EventSink final : public request::ResponseSink {
 public:
  EventSink(std::shared_ptr<ReplyStream> stream,
            std::shared_ptr<request::Cancellation> cancellation, bool decoupled)
      : stream_(std::move(stream)), cancellation_(std::move(cancellation)), decoupled_(decoupled) {}

  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override {
    try {
      if (!given_up_) {
        if (response != nullptr) {
          Write(std::move(response), final);
        } else if (final) {
          WriteRest();
        }
      }
      if (final) stream_->End();
    } catch (const std::exception&) {
      // No memory for the response, nor for a message: the stream just ends.
      given_up_ = true;
      cancellation_->Cancel();
      stream_->EndWith(503, {});
    }
  }

 private:
  void Write(std::unique_ptr<request::InferenceResponse> response, bool final) {
    int status = 200;
    std::string event = Encode(*response, final, &status);
    response.reset();
    if (!stream_->Write(status, std::move(event), decoupled_)) GiveUp();
  }

  /// Writes the characters of which the model has sent the beginning only.
  void WriteRest() {
    codec::json::TextBuffer json;
    responses_.EncodeRest(&json);
    if (json.size() == 0 || !json.ok()) return;
    if (!stream_->Write(200, Event(json), decoupled_)) GiveUp();
  }

  static std::string Event(const codec::json::TextBuffer& json) {
    std::string event;
    event.reserve(json.size() + 8);
    event.append("data: ").append(json.view()).append("\n\n");
    return event;
  }

  static std::string ErrorEvent(std::string_view message) {
    codec::json::TextBuffer json;
    codec::json::AppendError(message, &json);
    return Event(json);
  }

  std::string Encode(const request::InferenceResponse& response, bool final, int* status) {
    Status failure = response.error();
    if (failure.ok()) {
      codec::json::TextBuffer json;
      failure = responses_.Encode(response, final, &json);
      if (failure.ok()) return Event(json);
    }
    *status = api::HttpStatus(failure.code());
    return ErrorEvent(failure.message());
  }

  /// Ends the request because the client reads too slowly, or has gone.
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
  // These need no lock: the responses of a request are sent one at a time.
  codec::json::GenerateStream responses_;
  bool given_up_ = false;
};

}  // namespace

/// A request that is being prepared for the core.
struct GenerateEndpoint::Call {
  std::unique_ptr<request::InferenceRequest> request;
  std::vector<api::TensorMetadata> inputs;  // of the model
  bool decoupled = false;
  bool stream = false;
  // The result of decoding on another thread; none: OffLoop has failed, and the reply says why.
  std::optional<Status> decoded;
};

void GenerateEndpoint::Handle(Exchange& exchange, const Route& route) const {
  auto call = std::make_shared<Call>();
  Status status = Begin(exchange, route, call.get());
  if (!status.ok()) return Refuse(exchange, RefusedAt::kSubmission, status);
  if (exchange.body().size > kMaxJsonOnLoop) return DecodeOffLoop(exchange, std::move(call));
  status = Decode(exchange, call.get());
  if (!status.ok()) return Refuse(exchange, RefusedAt::kMessage, status);
  status = Submit(exchange, call.get(), /*may_run_inline=*/true);
  if (!status.ok()) Refuse(exchange, RefusedAt::kSubmission, status);
}

void GenerateEndpoint::Refuse(Exchange& exchange, RefusedAt at, const Status& status) const {
  CountRefused(service_, options_, exchange, at, status.code());
  if (exchange.head().IsTooLate()) {
    exchange.reply().SetTooLate();
  } else {
    exchange.reply().SetError(api::HttpStatus(status.code()), kJsonType, status.message());
  }
  exchange.Finish();
}

Status GenerateEndpoint::Begin(Exchange& exchange, const Route& route, Call* call) const {
  call->request = std::make_unique<request::InferenceRequest>();
  call->request->model_name.assign(route.model);
  NEREID_RETURN_IF_ERROR(service_.SetVersion(route.version, call->request.get()));
  const int64_t version = call->request->model_version;
  NEREID_ASSIGN_OR_RETURN(const api::ModelTraits traits,
                          service_.FindModel(call->request->model_name, version));
  call->decoupled = traits.decoupled;
  call->stream = route.endpoint == Endpoint::kGenerateStream;
  if (const auto encoding = EncodingFromName(exchange.head().content_encoding);
      !encoding.ok() || *encoding != Encoding::kIdentity) {
    return Status::InvalidArgument("Unsupported content-encoding, only 'identity' is supported.");
  }
  if (!exchange.head().bad_timeout.empty()) {
    return Status::InvalidArgument(exchange.head().bad_timeout);
  }
  NEREID_ASSIGN_OR_RETURN(api::ModelMetadata metadata,
                          service_.GetModelMetadata(call->request->model_name, version));
  call->inputs = std::move(metadata.inputs);
  return Status::Ok();
}

void GenerateEndpoint::DecodeOffLoop(Exchange& exchange, std::shared_ptr<Call> call) const {
  exchange.ContinueWith([this, &exchange, call] {
    if (!call->decoded) {
      CountRefused(service_, options_, exchange, RefusedAt::kMessage,
                   base::StatusCode::kUnavailable);
      return exchange.Finish();
    }
    Status status = *call->decoded;
    if (!status.ok()) return Refuse(exchange, RefusedAt::kMessage, status);
    status = Submit(exchange, call.get(), /*may_run_inline=*/false);
    if (!status.ok()) Refuse(exchange, RefusedAt::kSubmission, status);
  });
  workers_.Run(exchange, [this, &exchange, call] { call->decoded = Decode(exchange, call.get()); });
}

Status GenerateEndpoint::Decode(Exchange& exchange, Call* call) const {
  codec::json::DecodeLimits limits;
  limits.max_json_size = options_.max_input_size;
  NEREID_RETURN_IF_ERROR(codec::json::DecodeGenerateRequest(exchange.body().view(), call->inputs,
                                                            limits, call->request.get()));
  return api::TakeSequenceId(exchange.head().fields, options_.sequence_field, call->request.get());
}

Status GenerateEndpoint::Submit(Exchange& exchange, Call* call, bool may_run_inline) const {
  std::unique_ptr<request::InferenceRequest> request = std::move(call->request);
  // Not on the loop: a decoupled model may send many responses, and waits for a slow client; and
  // the responses of a stream are encoded by the thread that sends them.
  request->may_run_inline =
      options_.run_inline && may_run_inline && !call->decoupled && !call->stream;
  request->deadline_ns = exchange.head().deadline_ns;
  if (call->stream) {
    request->SetSink(
        std::make_shared<EventSink>(exchange.BeginStream(request->cancellation(), kEvents),
                                    request->cancellation(), call->decoupled));
  } else {
    request->SetSink(exchange.BecomeSink(request->cancellation(), ReplyForm::kGenerate));
  }
  StartTrace(options_.tracer, exchange, *request);
  api::SetTarget(*request, exchange.access_entry().record());
  Status status = service_.Infer(request);
  if (!status.ok()) exchange.ResignSink();
  return status;
}

bool GenerateEndpoint::IsLargeReply(const request::InferenceResponse* response) const {
  if (response == nullptr || !response->error().ok()) return false;
  size_t size = response->id().size();
  for (const auto& output : response->outputs()) size += output->size;
  return size > kMaxTextOnLoop;
}

void GenerateEndpoint::MakeReply(Exchange& exchange,
                                 std::unique_ptr<request::InferenceResponse> response,
                                 int count) const {
  Status status;
  if (count != 1) {
    status = Status::Internal(
        "generate expects model to produce exactly 1 response, use generate stream for model that "
        "generates various number of responses");
  } else if (!response->error().ok()) {
    if (exchange.head().IsTooLate()) return exchange.reply().SetTooLate();
    status = response->error();
  } else {
    status = codec::json::EncodeGenerateResponse(*response, &exchange.reply().text);
    exchange.reply().content_type = kJsonType;
  }
  if (!status.ok()) {
    exchange.reply().SetError(api::HttpStatus(status.code()), kJsonType, status.message());
  }
}

}  // namespace nereid::frontend::http
