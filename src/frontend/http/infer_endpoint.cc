// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/infer_endpoint.h"

#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "api/access_target.h"
#include "api/header_forwarding.h"
#include "api/sequence_field.h"
#include "api/shared_memory.h"
#include "api/status_map.h"
#include "base/parse_number.h"
#include "codec/json/infer_request.h"
#include "codec/json/infer_response.h"
#include "frontend/http/content_encoding.h"
#include "frontend/http/http_options.h"
#include "frontend/http/large_work.h"
#include "frontend/http/server_timing.h"
#include "frontend/http/start_trace.h"

namespace nereid::frontend::http {
namespace {

using api::RefusedAt;
using base::Status;
using request::InferenceRequest;

/// Returns the size of the JSON part of the body; the bytes behind it are binary tensors.
base::Result<size_t> JsonSize(const RequestHead& head, size_t body_size) {
  if (!head.inference_header_length) return body_size;
  const std::string& text = *head.inference_header_length;
  const auto length = base::ParseWhole<int64_t>(text);
  if (!length) {
    const char* const what =
        head.json_size_in_type ? "inference header size" : "Inference-Header-Content-Length";
    return Status::InvalidArgument("Unable to parse " + std::string(what) + ", got: " + text);
  }
  if (*length < 0 || static_cast<uint64_t>(*length) > body_size) {
    return Status::InvalidArgument("inference header size should be in range (0, " +
                                   std::to_string(body_size) + "), got: " + text);
  }
  return static_cast<size_t>(*length);
}

/// Compresses the reply if the client prefers that.
Status CompressReply(Exchange& exchange) {
  const Encoding encoding = BestEncoding(exchange.head().accept_encoding);
  if (encoding == Encoding::kIdentity) return Status::Ok();
  Reply& reply = exchange.reply();
  std::vector<tensor::ByteSpan> pieces = {{reply.text.data(), reply.text.size()}};
  pieces.insert(pieces.end(), reply.tail.begin(), reply.tail.end());
  codec::json::TextBuffer packed;
  NEREID_RETURN_IF_ERROR(Compress(pieces, encoding, &packed));
  reply.text = std::move(packed);
  reply.tail.clear();
  reply.extra_fields.append("Content-Encoding: ").append(EncodingName(encoding)).append("\r\n");
  return Status::Ok();
}

/// Adds the fields that say where the JSON part of a reply ends.
void AppendBinaryType(std::string_view binary_type, Reply* reply) {
  char number[24];
  const char* const end = std::to_chars(number, number + sizeof(number), reply->text.size()).ptr;
  const std::string_view size(number, static_cast<size_t>(end - number));
  std::string& fields = reply->extra_fields;
  if (binary_type.empty()) {
    reply->content_type = "application/octet-stream";
    fields.append("Inference-Header-Content-Length: ").append(size).append("\r\n");
    return;
  }
  // Not in content_type, which is a literal.
  fields.append("Content-Type: ").append(binary_type).append(";");
  fields.append(kJsonSizeParameter).append("=").append(size).append("\r\n");
}

Status EncodeReply(Exchange& exchange, std::unique_ptr<request::InferenceResponse> response,
                   const KserveOptions& options) {
  Reply& reply = exchange.reply();
  NEREID_RETURN_IF_ERROR(
      request::Classify(exchange.output_options().classifications(), response.get()));
  NEREID_RETURN_IF_ERROR(codec::json::EncodeInferResponse(*response, exchange.output_options(),
                                                          &reply.text, &reply.tail));
  if (reply.tail.empty()) {
    reply.content_type = kJsonType;
  } else {
    AppendBinaryType(options.binary_type, &reply);
  }
  reply.owner = std::move(response);
  if (!exchange.head().accept_encoding.empty()) return CompressReply(exchange);
  return Status::Ok();
}

/// A request that another thread decodes.
struct Decoding {
  std::unique_ptr<InferenceRequest> request;
  std::optional<Status> status;  // none: OffLoop has failed, and the reply says why
  std::string_view error_type = kTextType;
};

bool IsLargeRequest(const Exchange& exchange) {
  const size_t size = exchange.body().total_size();
  if (size <= kMaxPackedOnLoop) return false;
  if (!exchange.head().content_encoding.empty()) return true;
  if (size <= kMaxJsonOnLoop) return false;
  const base::Result<size_t> json_size = JsonSize(exchange.head(), size);
  return json_size.ok() && *json_size > kMaxJsonOnLoop;
}

}  // namespace

// The order of the checks is Triton's, because clients see which one fails first: the version and
// the model, then the compression, the timeout, the size of the JSON part, the JSON.
void InferEndpoint::Handle(Exchange& exchange, const Route& route) const {
  auto request = std::make_unique<InferenceRequest>();
  std::string_view error_type = kTextType;
  Status status = Begin(route, request.get());
  if (!status.ok()) return Refuse(exchange, RefusedAt::kSubmission, status, error_type);
  if (IsLargeRequest(exchange)) return DecodeOffLoop(exchange, std::move(request));
  status = Decode(exchange, request.get(), &error_type);
  if (!status.ok()) return Refuse(exchange, RefusedAt::kMessage, status, error_type);
  status = Submit(exchange, std::move(request), exchange.body().total_size() <= kMaxInlineBody);
  if (!status.ok()) Refuse(exchange, RefusedAt::kSubmission, status, error_type);
}

void InferEndpoint::Refuse(Exchange& exchange, RefusedAt at, const Status& status,
                           std::string_view error_type) const {
  CountRefused(service_, options_, exchange, at, status.code());
  if (exchange.head().IsTooLate()) {
    exchange.reply().SetTooLate();
    return exchange.Finish();
  }
  const std::string fields = std::move(exchange.reply().extra_fields);
  exchange.reply().SetError(api::HttpStatus(status.code()), error_type, status.message());
  exchange.reply().extra_fields = fields;
  exchange.Finish();
}

Status InferEndpoint::Begin(const Route& route, InferenceRequest* request) const {
  request->model_name.assign(route.model);
  NEREID_RETURN_IF_ERROR(service_.SetVersion(route.version, request));
  NEREID_ASSIGN_OR_RETURN(const api::ModelTraits traits,
                          service_.FindModel(request->model_name, request->model_version));
  if (!traits.decoupled) return Status::Ok();
  return Status::Unsupported(
      "HTTP end point doesn't support models with decoupled transaction policy");
}

memory::HostBuffer InferEndpoint::TakeBodyMemory(const Route& route, size_t size) const {
  if (options_.take_input_memory == nullptr) return {};
  request::RequestFields target;
  target.model_name.assign(route.model);
  if (!service_.SetVersion(route.version, &target).ok()) return {};
  return options_.take_input_memory(target.model_name, target.model_version, size);
}

void CountRefused(api::InferenceService& service, const KserveOptions& options,
                  const Exchange& exchange, RefusedAt at, base::StatusCode code) {
  api::RefusedRequests* const refused = service.controls().refused;
  if (refused == nullptr) return;
  refused->Count(options.front_end, exchange.head().IsTooLate() ? RefusedAt::kDeadline : at, code);
}

void InferEndpoint::DecodeOffLoop(Exchange& exchange, RequestPtr request) const {
  const auto decoding = std::make_shared<Decoding>();
  decoding->request = std::move(request);
  exchange.ContinueWith([this, &exchange, decoding] {
    if (!decoding->status) {
      CountRefused(service_, options_, exchange, RefusedAt::kMessage,
                   base::StatusCode::kUnavailable);
      return exchange.Finish();
    }
    Status status = *decoding->status;
    if (!status.ok()) return Refuse(exchange, RefusedAt::kMessage, status, decoding->error_type);
    status = Submit(exchange, std::move(decoding->request), false);
    if (!status.ok()) Refuse(exchange, RefusedAt::kSubmission, status, decoding->error_type);
  });
  workers_.Run(exchange, [this, &exchange, decoding] {
    decoding->status = Decode(exchange, decoding->request.get(), &decoding->error_type);
  });
}

Status InferEndpoint::Decode(Exchange& exchange, InferenceRequest* request,
                             std::string_view* error_type) const {
  NEREID_RETURN_IF_ERROR(
      DecompressBody(exchange, options_.max_input_size, options_.receive_budget));
  if (!exchange.head().bad_timeout.empty()) {
    return Status::InvalidArgument(exchange.head().bad_timeout);
  }
  const Body& body = exchange.body();
  NEREID_ASSIGN_OR_RETURN(const size_t json_size, JsonSize(exchange.head(), body.total_size()));
  const bool is_apart = !body.json.empty();
  const std::string_view json = is_apart ? body.json : body.view().substr(0, json_size);
  const std::string_view binary = is_apart ? body.view() : body.view().substr(json_size);

  *error_type = kJsonType;
  codec::json::DecodeLimits limits;
  limits.max_json_size = options_.max_input_size;
  if (json_size == 0) {
    NEREID_RETURN_IF_ERROR(
        codec::json::DecodeRawRequest(binary, limits, request, &exchange.output_options()));
  } else {
    NEREID_RETURN_IF_ERROR(
        codec::json::DecodeInferRequest(json, binary, limits, request, &exchange.output_options()));
  }
  NEREID_RETURN_IF_ERROR(api::ForwardFields(exchange.head().fields, request));
  NEREID_RETURN_IF_ERROR(
      api::TakeSequenceId(exchange.head().fields, options_.sequence_field, request));
  // Without a binary part no input views the body: tensors given as JSON have their own buffers.
  if (binary.empty()) return Status::Ok();
  if (body.buffer.is_borrowed()) NEREID_RETURN_IF_ERROR(api::MarkShared(binary, *request));
  request->Hold(exchange.TakeBodyMemory());
  return Status::Ok();
}

Status InferEndpoint::Submit(Exchange& exchange, RequestPtr request, bool may_run_inline) const {
  request->may_run_inline = options_.run_inline && may_run_inline;
  request->deadline_ns = exchange.head().deadline_ns;
  auto sink = exchange.BecomeSink(request->cancellation(), ReplyForm::kInference);
  if (exchange.head().wants_timing) exchange.timing() = ServerTiming::Begin(*request, &sink);
  request->SetSink(std::move(sink));
  StartTrace(options_.tracer, exchange, *request);
  api::SetTarget(*request, exchange.access_entry().record());
  Status status = service_.Infer(request);
  if (!status.ok()) exchange.ResignSink();
  return status;
}

bool InferEndpoint::IsLargeReply(const Exchange& exchange,
                                 const request::InferenceResponse* response) const {
  if (response == nullptr || !response->error().ok()) return false;
  size_t size = response->id().size();
  for (const auto& output : response->outputs()) size += output->MessageBytes().size();
  if (size <= kMaxToPackOnLoop) return false;
  if (BestEncoding(exchange.head().accept_encoding) != Encoding::kIdentity) return true;
  if (size <= kMaxTextOnLoop) return false;
  if (!exchange.output_options().classifications().empty()) return true;
  for (const auto& output : response->outputs()) {
    if (exchange.output_options().IsBinary(output->name)) size -= output->MessageBytes().size();
  }
  return size > kMaxTextOnLoop;
}

void InferEndpoint::MakeReply(Exchange& exchange,
                              std::unique_ptr<request::InferenceResponse> response,
                              int count) const {
  Status status;
  if (count != 1) {
    status = Status::Internal("expected a single response, got " + std::to_string(count));
  } else if (!response->error().ok()) {
    // The client has set the deadline, so the reply names that, even if another part of the server
    // has refused the request for another reason.
    if (exchange.head().IsTooLate()) return exchange.reply().SetTooLate();
    status = response->error();
  } else {
    status = EncodeReply(exchange, std::move(response), options_);
  }
  if (!status.ok()) {
    exchange.reply().SetError(api::HttpStatus(status.code()), kTextType, status.message());
  }
  if (exchange.timing() != nullptr) {
    exchange.reply().extra_fields.append(exchange.timing()->field());
  }
}

}  // namespace nereid::frontend::http
