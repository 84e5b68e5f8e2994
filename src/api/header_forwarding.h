// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "api/access/caller.h"
#include "base/result.h"
#include "request/request_fields.h"

namespace re2 {
class RE2;
}

namespace nereid::api {

/// Makes header fields (HTTP) or metadata (gRPC) parameters of the inference request. Immutable;
/// thread-safe.
class HeaderForwarding {
 public:
  /// `pattern` is a regular expression in the syntax of RE2. It need match only a part of a name,
  /// in any case of letters. Returns INVALID_ARGUMENT with the reason for a pattern that is none.
  static base::Result<std::shared_ptr<const HeaderForwarding>> Make(const std::string& pattern);
  ~HeaderForwarding();
  HeaderForwarding(const HeaderForwarding&) = delete;
  HeaderForwarding& operator=(const HeaderForwarding&) = delete;

  /// Returns whether the fields with this name are forwarded.
  bool Matches(std::string_view name) const;

 private:
  explicit HeaderForwarding(std::unique_ptr<const re2::RE2> pattern);

  const std::unique_ptr<const re2::RE2> pattern_;
};

/// Adds the fields that are to be forwarded to the parameters of a request, in their order. Returns
/// INVALID_ARGUMENT, with Triton's text, for a name that means something to the server.
base::Status ForwardFields(std::span<const HeaderField> fields, request::RequestFields* request);

}  // namespace nereid::api
