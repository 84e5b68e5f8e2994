// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nghttp2/nghttp2.h>

#include <string_view>

namespace nereid::frontend::http2 {

/// Returns a header field for nghttp2, which copies the parts that are chosen by NGHTTP2_NV_FLAG_…
/// when the field is submitted; the others must live until they are sent.
inline nghttp2_nv Field(std::string_view name, std::string_view value, uint8_t flags) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), flags};
}

}  // namespace nereid::frontend::http2
