// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/request_parser.h"

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <string>
#include <utility>

namespace nereid::frontend::http {
namespace {

namespace beast = boost::beast;
using beast::http::field;
using beast::http::verb;

constexpr uint32_t kMaxChunks = 65'536;

std::string_view Text(beast::string_view text) { return {text.data(), text.size()}; }

/// Returns a target without its scheme and authority. RFC 9112, section 3.2.2: a server must accept
/// the absolute form ("http://host/path?query"), which clients send to proxies.
std::string OriginForm(std::string_view target) {
  const size_t scheme = target.find("://");
  if (scheme == 0 || scheme == std::string_view::npos) return std::string(target);
  if (target.find_first_of("/?") < scheme) return std::string(target);
  target.remove_prefix(scheme + 3);
  target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
  return target.starts_with('/') ? std::string(target) : "/" + std::string(target);
}

}  // namespace

RequestParser::RequestParser(RequestHead* head, const HttpServerOptions& options)
    : head_(*head), fields_(head, options) {
  header_limit(options.max_head_size);
  body_limit(UINT64_MAX);  // RequestReader checks the size
}

void RequestParser::on_request_impl(verb method, string_view, string_view target, int version,
                                    error_code& error) {
  error = {};
  head_.is_http_1_0 = version < 11;
  head_.method = MethodOf(method);
  if (!fields_.SetTarget(OriginForm(Text(target)))) {
    Refuse(fields_.refusal().status, fields_.refusal().text, error);
  }
}

void RequestParser::on_response_impl(int, string_view, int, error_code& error) { error = {}; }

void RequestParser::on_field_impl(field name, string_view name_text, string_view value,
                                  error_code& error) {
  error = {};
  bool is_accepted = fields_.Count();
  // RFC 9110, section 6.5.1: a trailer field must not change how the request is read. The server
  // uses none, and the head has taken effect already.
  if (is_accepted && !is_header_done()) {
    if (name == field::transfer_encoding) codings_.Add(Text(value));
    is_accepted = fields_.Add(name, Text(name_text), Text(value));
  }
  if (!is_accepted) Refuse(fields_.refusal().status, fields_.refusal().text, error);
}

void RequestParser::on_header_impl(error_code& error) {
  error = {};
  head_.keep_alive = keep_alive();
  if (!head_.is_http_1_0 && !fields_.has_host()) {
    return Refuse(400, "the request has no field Host", error);
  }
  if (Refusal refusal = codings_.Check(head_.is_http_1_0); refusal.status != 0) {
    Refuse(refusal.status, std::move(refusal.text), error);
  }
}

void RequestParser::StartChunkedBody(memory::ReceiveBuffer* body, const BodyLimit& limit) {
  eager(true);
  chunked_body_ = body;
  limit_ = limit;
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
  if (size > limit_.size - chunked_body_->size()) {
    Refusal refusal = RefusalOfLongBody(head_, limit_, std::nullopt);
    Refuse(refusal.status, std::move(refusal.text), error);
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
