// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "frontend/http/refusal.h"

namespace nereid::frontend::http {

/// Decides by the Transfer-Encoding fields of a request whether the end of its body can be told
/// (RFC 9112, sections 6.1 and 6.3).
class TransferCodings {
 public:
  /// Takes the value of one field; several make one list.
  void Add(std::string_view list);

  /// Why a request of that version cannot be read. Where its body ends is unknown, so that the
  /// connection has to be closed: what follows might be taken for another request.
  Refusal Check(bool is_http_1_0) const;

 private:
  bool any_ = false;
  bool chunked_is_last_ = false;
  bool chunked_was_earlier_ = false;
  std::string unknown_;  // the first coding that is not chunked
};

}  // namespace nereid::frontend::http
