// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/request_parser.h"

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <utility>

#include "api/timeout_text.h"
#include "frontend/http/field_text.h"

namespace nereid::frontend::http {
namespace {

namespace beast = boost::beast;
using beast::http::field;
using beast::http::verb;

constexpr uint32_t kMaxChunks = 65'536;
constexpr size_t kMaxShown = 64;  // characters of a client's text in a message
// The fields that say how long a client or proxy waits: gRPC's own, which gateways also send over
// HTTP, and the one that Envoy sends to the server behind it.
constexpr char kGrpcTimeout[] = "grpc-timeout";
constexpr char kEnvoyTimeout[] = "x-envoy-expected-rq-timeout-ms";

std::string_view Text(beast::string_view text) { return {text.data(), text.size()}; }

Method MethodOf(verb method) {
  switch (method) {
    case verb::get:
      return Method::kGet;
    case verb::head:
      return Method::kHead;
    case verb::post:
      return Method::kPost;
    case verb::delete_:
      return Method::kDelete;
    case verb::options:
      return Method::kOptions;
    default:
      return Method::kOther;
  }
}

}  // namespace

RequestParser::RequestParser(RequestHead* head, const HttpServerOptions& options)
    : head_(*head),
      kept_fields_(options.kept_fields.get()),
      keep_trace_headers_(options.keep_trace_headers),
      binary_type_(options.binary_type),
      max_fields_(options.max_fields) {
  head_.Clear();
  header_limit(options.max_head_size);
  body_limit(UINT64_MAX);  // RequestReader checks the size
}

void RequestParser::on_request_impl(verb method, string_view, string_view target, int version,
                                    error_code& error) {
  error = {};
  head_.is_http_1_0 = version < 11;
  head_.method = MethodOf(method);
  std::string_view text = Text(target);
  // RFC 9112, section 3.2.2: a server must accept the absolute form ("http://host/path"), which
  // clients send to proxies. Only the path counts.
  const size_t scheme = text.find("://");
  if (!text.empty() && text[0] != '/' && scheme != std::string_view::npos) {
    const size_t path = text.find('/', scheme + 3);
    text = path == std::string_view::npos ? "/" : text.substr(path);
  }
  head_.target.assign(text);
}

void RequestParser::on_response_impl(int, string_view, int, error_code& error) { error = {}; }

void RequestParser::on_field_impl(field name, string_view name_text, string_view value,
                                  error_code& error) {
  error = {};
  if (++field_count_ > max_fields_) {
    return Refuse(
        431, "the request has more than " + std::to_string(max_fields_) + " header fields", error);
  }
  // RFC 9110, section 6.5.1: a trailer field must not change how the request is read. The server
  // uses none, and the head has taken effect already.
  if (is_header_done()) return;
  switch (name) {
    case field::content_encoding:
      AddToList(Text(value), &head_.content_encoding);
      break;
    case field::accept_encoding:
      AddToList(Text(value), &head_.accept_encoding);
      break;
    case field::accept:
      AddToList(Text(value), &head_.accept);
      break;
    case field::content_type:
      if (!binary_type_.empty()) TakeJsonSize(Text(value));
      break;
    case field::transfer_encoding:
      codings_.Add(Text(value));
      break;
    case field::expect:
      // RFC 9110, section 10.1.1: the expectation in an HTTP/1.0 request is ignored.
      head_.expects_continue = !head_.is_http_1_0 && beast::iequals(value, "100-continue");
      break;
    case field::origin:
      head_.origin.assign(value.data(), value.size());
      break;
    case field::prefer:
      if (beast::http::token_list(value).exists("server-timing")) head_.wants_timing = true;
      break;
    case field::access_control_request_method:
      head_.asks_for_method = true;
      break;
    case field::unknown:
      if (beast::iequals(name_text, "Inference-Header-Content-Length")) {
        head_.inference_header_length.emplace(value.data(), value.size());
      } else if (beast::iequals(name_text, kGrpcTimeout)) {
        SetTimeout(kGrpcTimeout, api::ParseGrpcTimeout(Text(value)), Text(value));
      } else if (beast::iequals(name_text, kEnvoyTimeout)) {
        SetTimeout(kEnvoyTimeout, api::ParseMilliseconds(Text(value)), Text(value));
      } else if (keep_trace_headers_) {
        head_.trace.Add(Text(name_text), Text(value));
      }
      break;
    default:
      break;
  }
  if (kept_fields_ != nullptr && !kept_fields_->Take(Text(name_text), Text(value), &head_.fields)) {
    Refuse(431, std::string(api::TooManyFieldsText()), error);
  }
}

void RequestParser::TakeJsonSize(std::string_view content_type) {
  if (!EqualsIgnoringCase(Trim(TakeUntil(&content_type, ';')), binary_type_)) return;
  while (!content_type.empty()) {
    std::string_view size = TakeUntil(&content_type, ';');
    if (!EqualsIgnoringCase(Trim(TakeUntil(&size, '=')), kJsonSizeParameter)) continue;
    head_.inference_header_length.emplace(Trim(size));
    head_.json_size_in_type = true;
  }
}

void RequestParser::SetTimeout(std::string_view name, std::optional<uint64_t> timeout_ns,
                               std::string_view value) {
  if (timeout_ns) {
    head_.timeout_ns = std::min(head_.timeout_ns.value_or(UINT64_MAX), *timeout_ns);
    return;
  }
  head_.bad_timeout = "the header '" + std::string(name) + "' has the value '" +
                      std::string(value.substr(0, kMaxShown)) + "', expected " +
                      (name == kGrpcTimeout ? "up to 8 digits and a unit of H, M, S, m, u or n"
                                            : "a number of milliseconds");
}

void RequestParser::on_header_impl(error_code& error) {
  error = {};
  head_.keep_alive = keep_alive();
  if (Refusal refusal = codings_.Check(head_.is_http_1_0); refusal.status != 0) {
    Refuse(refusal.status, std::move(refusal.text), error);
  }
}

void RequestParser::StartChunkedBody(memory::ReceiveBuffer* body, uint64_t max_size) {
  eager(true);
  chunked_body_ = body;
  max_chunked_size_ = max_size;
}

void RequestParser::Refuse(int status, std::string text, error_code& error) {
  refusal_ = {status, std::move(text)};
  error = beast::http::error::body_limit;  // any error ends put(); refusal() says why
}

void RequestParser::on_body_init_impl(boost::optional<std::uint64_t> const&, error_code& error) {
  error = {};
}

std::size_t RequestParser::on_body_impl(string_view body, error_code& error) {
  error = {};
  return body.size();
}

void RequestParser::on_chunk_header_impl(std::uint64_t size, string_view, error_code& error) {
  error = {};
  if (size != 0 && ++chunk_count_ > kMaxChunks) {
    return Refuse(400,
                  "Chunked request body exceeds maximum of 65536 non-empty chunks. Send fewer or "
                  "larger HTTP chunks.",
                  error);
  }
  if (size > max_chunked_size_ - chunked_body_->size()) {
    Refuse(413,
           "the request's chunked body exceeds the maximum of " +
               std::to_string(max_chunked_size_) + " bytes",
           error);
  }
}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t, string_view body, error_code& error) {
  error = {};
  const auto outcome = chunked_body_->Append(Text(body));
  if (outcome != memory::ReceiveBuffer::Outcome::kDone) {
    refusal_ = RefusalOf(outcome);
    error = beast::http::error::body_limit;
  }
  return body.size();
}

void RequestParser::on_finish_impl(error_code& error) { error = {}; }

}  // namespace nereid::frontend::http
