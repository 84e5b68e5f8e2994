// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/request_fields.h"

#include <algorithm>
#include <boost/beast/http/rfc7230.hpp>
#include <string>
#include <utility>

#include "api/timeout_text.h"
#include "frontend/http/field_text.h"

namespace nereid::frontend::http {
namespace {

using boost::beast::http::field;
using boost::beast::http::verb;

constexpr size_t kMaxShown = 64;  // characters of a client's text in a message
// The fields that say how long a client or proxy waits: gRPC's own, which gateways also send over
// HTTP, and the one that Envoy sends to the server behind it.
constexpr char kGrpcTimeout[] = "grpc-timeout";
constexpr char kEnvoyTimeout[] = "x-envoy-expected-rq-timeout-ms";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsHostCharacter(char c) {
  const char lower = LowerCase(c);
  return IsDigit(c) || (lower >= 'a' && lower <= 'z') ||
         std::string_view("-._~!$&'()*+,;=%").find(c) != std::string_view::npos;
}

/// Returns whether the text is a host, perhaps with a port (RFC 3986, section 3.2.2); it may be
/// empty.
bool IsHost(std::string_view text) {
  size_t end = std::min(text.find(':'), text.size());
  std::string_view name = text.substr(0, end);
  if (text.starts_with('[')) {  // an address of IPv6
    end = text.find(']');
    if (end == std::string_view::npos) return false;
    name = text.substr(1, end - 1);
    ++end;
  }
  const bool is_address = end > name.size();
  const auto is_known = [&](char c) { return IsHostCharacter(c) || (is_address && c == ':'); };
  if (!std::all_of(name.begin(), name.end(), is_known)) return false;
  const std::string_view port = text.substr(end);
  if (port.empty()) return true;
  return port.front() == ':' && std::all_of(port.begin() + 1, port.end(), IsDigit);
}

}  // namespace

RequestFields::RequestFields(RequestHead* head, const HttpServerOptions& options)
    : head_(*head),
      kept_fields_(options.kept_fields.get()),
      keep_trace_headers_(options.keep_trace_headers),
      binary_type_(options.binary_type),
      max_fields_(options.max_fields) {
  head_.Clear();
}

bool RequestFields::SetTarget(std::string_view target) {
  if (head_.SetTarget(target)) return true;
  refusal_ = {400,
              "the path of the request has a '%' that two hexadecimal digits do not follow, or a "
              "control character"};
  return false;
}

bool RequestFields::Count() {
  if (++field_count_ <= max_fields_) return true;
  refusal_ = {431, "the request has more than " + std::to_string(max_fields_) + " header fields"};
  return false;
}

bool RequestFields::Add(field name, std::string_view name_text, std::string_view value) {
  switch (name) {
    case field::content_encoding:
      AddToList(value, &head_.content_encoding);
      break;
    case field::accept_encoding:
      AddToList(value, &head_.accept_encoding);
      break;
    case field::accept:
      AddToList(value, &head_.accept);
      break;
    case field::content_type:
      if (!binary_type_.empty()) TakeJsonSize(value);
      break;
    case field::expect:
      // RFC 9110, section 10.1.1: the expectation in an HTTP/1.0 request is ignored.
      head_.expects_continue = !head_.is_http_1_0 && EqualsIgnoringCase(value, "100-continue");
      break;
    case field::host:
      if (!TakeHost(value)) return false;
      break;
    case field::origin:
      head_.origin.assign(value);
      break;
    case field::prefer:
      if (boost::beast::http::token_list({value.data(), value.size()}).exists("server-timing")) {
        head_.wants_timing = true;
      }
      break;
    case field::access_control_request_method:
      head_.asks_for_method = true;
      break;
    case field::unknown:
      AddUnknown(name_text, value);
      break;
    default:
      break;
  }
  if (kept_fields_ == nullptr || kept_fields_->Take(name_text, value, &head_.fields)) return true;
  refusal_ = {431, std::string(api::TooManyFieldsText())};
  return false;
}

// RFC 9112, section 3.2: one that is missing, doubled or malformed is answered with 400. Servers
// that choose different hosts for one request let a client pass by the rules of the first.
bool RequestFields::TakeHost(std::string_view value) {
  if (std::exchange(has_host_, true)) {
    refusal_ = {400, "the request names its host twice"};
  } else if (!IsHost(value)) {
    refusal_ = {400, "the field Host of the request is malformed"};
  } else {
    return true;
  }
  return false;
}

void RequestFields::AddUnknown(std::string_view name, std::string_view value) {
  if (EqualsIgnoringCase(name, "Inference-Header-Content-Length")) {
    head_.inference_header_length.emplace(value);
  } else if (EqualsIgnoringCase(name, kGrpcTimeout)) {
    SetTimeout(kGrpcTimeout, api::ParseGrpcTimeout(value), value);
  } else if (EqualsIgnoringCase(name, kEnvoyTimeout)) {
    SetTimeout(kEnvoyTimeout, api::ParseMilliseconds(value), value);
  } else if (keep_trace_headers_) {
    head_.trace.Add(name, value);
  }
}

void RequestFields::TakeJsonSize(std::string_view content_type) {
  if (!EqualsIgnoringCase(Trim(TakeUntil(&content_type, ';')), binary_type_)) return;
  while (!content_type.empty()) {
    std::string_view size = TakeUntil(&content_type, ';');
    if (!EqualsIgnoringCase(Trim(TakeUntil(&size, '=')), kJsonSizeParameter)) continue;
    head_.inference_header_length.emplace(Trim(size));
    head_.json_size_in_type = true;
  }
}

void RequestFields::SetTimeout(std::string_view name, std::optional<uint64_t> timeout_ns,
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

Method MethodOf(verb method) {
  switch (method) {
    case verb::get:
      return Method::kGet;
    case verb::head:
      return Method::kHead;
    case verb::post:
      return Method::kPost;
    case verb::put:
      return Method::kPut;
    case verb::delete_:
      return Method::kDelete;
    case verb::options:
      return Method::kOptions;
    default:
      return Method::kOther;
  }
}

}  // namespace nereid::frontend::http
