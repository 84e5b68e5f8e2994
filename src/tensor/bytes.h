// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "base/status.h"

namespace nereid::tensor {

/// One contiguous piece of a tensor's bytes.
struct ByteSpan {
  const char* data = nullptr;
  size_t size = 0;
};

/// BYTES tensors are serialised as, for each element, a little-endian uint32 length and that many
/// bytes, without padding. Calls `visit` with each element of the concatenation of `pieces`, in
/// order, and checks that exactly `expected_count` elements fill it. An element that is split over
/// pieces is handed over in a temporary that is valid during the call only. `subject` ("inference
/// input 'X' for model 'M'") goes into the message of a failure.
base::Status ForEachBytesElement(std::span<const ByteSpan> pieces, int64_t expected_count,
                                 std::string_view subject,
                                 const std::function<void(std::string_view)>& visit);

/// The same check without looking at the elements.
base::Status CheckBytesElements(std::span<const ByteSpan> pieces, int64_t expected_count,
                                std::string_view subject);

/// Appends one element (length and bytes) to `out`. The element must be shorter than 2^32 bytes.
void AppendBytesElement(std::string_view element, std::string* out);

}  // namespace nereid::tensor
