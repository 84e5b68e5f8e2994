// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "nereid/backend/error.h"

namespace nereid::backend {

/// Calls `visit(index, element)` for each element of a serialized BYTES tensor. Each element is a
/// little-endian uint32 length and that many bytes. `data` must hold exactly `count` elements;
/// INVALID_ARG otherwise, with the name `tensor` in the message. `element` is a view of `data`.
template <typename Visit>
Error ForEachBytesElement(const char* data, uint64_t size, int64_t count, std::string_view tensor,
                          Visit&& visit) {
  const auto bad = [&](const std::string& what) {
    return Error::InvalidArgument("BYTES tensor '" + std::string(tensor) + "' " + what);
  };
  uint64_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (size - at < sizeof(uint32_t)) {
      return bad("ends after " + std::to_string(i) + " of " + std::to_string(count) + " elements");
    }
    uint32_t length = 0;
    std::memcpy(&length, data + at, sizeof(length));
    at += sizeof(length);
    if (size - at < length) {
      return bad("element " + std::to_string(i) + " claims " + std::to_string(length) +
                 " bytes, but " + std::to_string(size - at) + " are left");
    }
    visit(i, std::string_view(data + at, length));
    at += length;
  }
  if (at != size) {
    return bad("has " + std::to_string(size - at) + " bytes after its " + std::to_string(count) +
               " elements");
  }
  return {};
}

/// Writes one element to `out`, which must have room for 4 + element.size() bytes, and returns the
/// position after it. The element must be shorter than 2^32 bytes.
inline char* WriteBytesElement(std::string_view element, char* out) {
  const auto length = static_cast<uint32_t>(element.size());
  std::memcpy(out, &length, sizeof(length));
  if (length != 0) {
    std::memcpy(out + sizeof(length), element.data(), length);
  }
  return out + sizeof(length) + length;
}

}  // namespace nereid::backend
