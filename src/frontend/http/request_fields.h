// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

#include "api/field_filter.h"
#include "frontend/http/http_options.h"
#include "frontend/http/refusal.h"
#include "frontend/http/request_head.h"

namespace nereid::frontend::http {

/// Takes the header fields of one request into its head, as far as the server uses them; the same
/// in HTTP/1 and HTTP/2. The fields that only one of them has are its own business.
class RequestFields {
 public:
  /// Clears `head` and fills it within the limits of `options`. Both must outlive the object.
  RequestFields(RequestHead* head, const HttpServerOptions& options);

  /// Takes the target of the request. Returns false if its path is malformed; see refusal().
  bool SetTarget(std::string_view target);
  /// Counts a field of the head or the trailer. Returns false if it is one too many; see refusal().
  bool Count();
  /// Takes a field of the head. Returns false if the request must be refused; see refusal().
  bool Add(boost::beast::http::field name, std::string_view name_text, std::string_view value);

  /// Returns whether the request says for which host it is.
  bool has_host() const { return has_host_; }

  /// Why a function has returned false; otherwise status 0.
  const Refusal& refusal() const { return refusal_; }

 private:
  bool TakeHost(std::string_view value);
  void AddUnknown(std::string_view name, std::string_view value);
  /// Takes the size of the JSON part from a field Content-Type that has it.
  void TakeJsonSize(std::string_view content_type);
  void SetTimeout(std::string_view name, std::optional<uint64_t> timeout_ns,
                  std::string_view value);

  RequestHead& head_;
  const api::FieldFilter* const kept_fields_;  // may be null
  const bool keep_trace_headers_;
  const std::string_view binary_type_;
  const uint32_t max_fields_;
  uint32_t field_count_ = 0;
  bool has_host_ = false;
  Refusal refusal_;
};

Method MethodOf(boost::beast::http::verb method);

}  // namespace nereid::frontend::http
