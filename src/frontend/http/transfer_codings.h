// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "frontend/http/refusal.h"

namespace nereid::frontend::http {

/// The Transfer-Encoding fields of a request. They decide whether the end of its body can be found
/// (RFC 9112, sections 6.1 and 6.3).
class TransferCodings {
 public:
  /// Adds the value of one field; several fields make one list.
  void Add(std::string_view list);

  /// Returns why the request cannot be read, or status 0 if it can. The end of the body of a
  /// refused request is unknown. The connection must be closed: another server in front may see a
  /// different end, and take a part of the body for a request (request smuggling).
  Refusal Check(bool is_http_1_0) const;

 private:
  bool any_ = false;
  bool chunked_is_last_ = false;
  bool chunked_was_earlier_ = false;
  std::string unknown_;  // the first coding that is not chunked
};

}  // namespace nereid::frontend::http
