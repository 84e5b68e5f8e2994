// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nereid::schedule {

/// The time of an event that will not happen.
inline constexpr uint64_t kNever = UINT64_MAX;

/// Returns a + b, or kNever where the sum exceeds 64 bits.
constexpr uint64_t SaturatingAdd(uint64_t a, uint64_t b) { return a > kNever - b ? kNever : a + b; }

/// Returns `us` in nanoseconds, or kNever where that exceeds 64 bits.
constexpr uint64_t MicrosecondsToNs(uint64_t us) { return us > kNever / 1000 ? kNever : us * 1000; }

}  // namespace nereid::schedule
