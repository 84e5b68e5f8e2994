// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

#include "frontend/http/http_handler.h"

namespace nereid::frontend::http {

/// Grows as a chunked body arrives.
class ChunkedBody {
 public:
  void Start(size_t offset, uint64_t max_size);
  /// False when the body gets too big, or memory runs out.
  bool Append(std::string_view piece);
  Body Take();

 private:
  memory::HostBuffer buffer_;
  size_t offset_ = 0;
  size_t size_ = 0;
  uint64_t max_size_ = 0;
};

/// Parses one request with Beast: the head, and the framing of a chunked body. A body with a
/// length is not shown to the parser.
class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  RequestParser(RequestHead* head, bool keep_fields, uint32_t max_head_size);

  ChunkedBody& chunked_body() { return chunked_body_; }
  /// Why a chunked body was refused; empty if it was not.
  std::string_view refusal() const { return refusal_; }

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

  void SetTimeout(std::string_view name, std::optional<uint64_t> timeout_ns,
                  std::string_view value);

  RequestHead& head_;
  const bool keep_fields_;
  ChunkedBody chunked_body_;
  uint32_t chunk_count_ = 0;
  std::string_view refusal_;
};

}  // namespace nereid::frontend::http
