// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/http/http_options.h"
#include "frontend/http/refusal.h"
#include "frontend/http/request_body.h"
#include "frontend/http/request_fields.h"
#include "frontend/http/request_head.h"
#include "frontend/http/transfer_codings.h"
#include "memory/receive_buffer.h"

namespace nereid::frontend::http {

/// Parses one request with Boost.Beast: the head, and the framing of a chunked body. The bytes of a
/// body with a length are not passed to the parser. Trailer fields are checked and discarded.
class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  /// Clears `head` and fills it within the limits of `options`, which must outlive the parser.
  RequestParser(RequestHead* head, const HttpServerOptions& options);

  /// Sets where the chunked body is stored, and its limit. Before the first chunk.
  void StartChunkedBody(memory::ReceiveBuffer* body, const BodyLimit& limit);

  /// Why put() has failed; status 0 if the request is malformed HTTP.
  const Refusal& refusal() const { return refusal_; }

 private:
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb method, string_view method_text, string_view target,
                       int version, error_code& error) override;
  void on_response_impl(int code, string_view reason, int version, error_code& error) override;
  void on_field_impl(boost::beast::http::field name, string_view name_text, string_view value,
                     error_code& error) override;
  void on_header_impl(error_code& error) override;
  void on_body_init_impl(boost::optional<std::uint64_t> const& length, error_code& error) override;
  std::size_t on_body_impl(string_view body, error_code& error) override;
  void on_chunk_header_impl(std::uint64_t size, string_view extensions, error_code& error) override;
  std::size_t on_chunk_body_impl(std::uint64_t left, string_view body, error_code& error) override;
  void on_finish_impl(error_code& error) override;

  void Refuse(int status, std::string text, error_code& error);

  RequestHead& head_;
  RequestFields fields_;
  TransferCodings codings_;
  memory::ReceiveBuffer* chunked_body_ = nullptr;
  BodyLimit limit_;
  uint32_t chunk_count_ = 0;
  Refusal refusal_;
};

}  // namespace nereid::frontend::http
