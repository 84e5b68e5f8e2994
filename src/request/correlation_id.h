// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/status.h"

namespace nereid::request {

/// Identifies the sequence that a request belongs to; 0 and "" mean none.
using CorrelationId = std::variant<uint64_t, std::string>;

/// Returns whether the id is 0 or "".
inline bool IsNone(const CorrelationId& id) {
  const auto* const number = std::get_if<uint64_t>(&id);
  return number != nullptr ? *number == 0 : std::get<std::string>(id).empty();
}

/// Returns the id as text; a number in decimal.
std::string CorrelationIdText(const CorrelationId& id);

/// The longest text that identifies a sequence, in bytes.
inline constexpr size_t kMaxCorrelationIdSize = 128;

/// Returns UNSUPPORTED for a text that is too long to identify a sequence. Code that sets the
/// correlation id of a request to a text must call this first, also for models without sequences.
base::Status CheckCorrelationId(std::string_view text);

}  // namespace nereid::request
