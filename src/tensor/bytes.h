// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "base/status.h"

namespace nereid::tensor {

/// A contiguous part of a tensor's bytes.
struct ByteSpan {
  const char* data = nullptr;
  size_t size = 0;
};

/// Calls `visit` for each element of a serialized BYTES tensor, in order. Serialized form: for each
/// element a little-endian uint32 length and that many bytes, without padding. `pieces` are
/// concatenated; they must contain exactly `expected_count` elements and nothing else. An element
/// that is split between pieces is copied, and is valid during the call only. INVALID_ARG
/// otherwise, with `subject` ("inference input 'X' for model 'M'") in the message.
base::Status ForEachBytesElement(std::span<const ByteSpan> pieces, int64_t expected_count,
                                 std::string_view subject,
                                 const std::function<void(std::string_view)>& visit);

/// Checks the same without visiting the elements.
base::Status CheckBytesElements(std::span<const ByteSpan> pieces, int64_t expected_count,
                                std::string_view subject);

/// Appends one serialized element (length and bytes) to `out`. The element must be shorter than
/// 2^32 bytes.
void AppendBytesElement(std::string_view element, std::string* out);

}  // namespace nereid::tensor
