// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/transfer_codings.h"

#include "frontend/http/field_text.h"

namespace nereid::frontend::http {

void TransferCodings::Add(std::string_view list) {
  constexpr size_t kMaxShown = 64;
  any_ = true;
  while (!list.empty()) {
    const std::string_view coding = Trim(TakeUntil(&list, ','));
    if (coding.empty()) continue;
    chunked_was_earlier_ = chunked_was_earlier_ || chunked_is_last_;
    chunked_is_last_ = EqualsIgnoringCase(coding, "chunked");
    if (!chunked_is_last_ && unknown_.empty()) unknown_ = coding.substr(0, kMaxShown);
  }
}

Refusal TransferCodings::Check(bool is_http_1_0) const {
  if (!any_) return {};
  if (is_http_1_0) return {400, "an HTTP/1.0 request cannot have a Transfer-Encoding"};
  if (!chunked_is_last_ || chunked_was_earlier_) {
    return {400, "the Transfer-Encoding of a request must name 'chunked' once, as its last coding"};
  }
  if (!unknown_.empty()) return {501, "the transfer coding '" + unknown_ + "' is not supported"};
  return {};
}

}  // namespace nereid::frontend::http
