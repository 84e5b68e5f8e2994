// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nereid::schedule {

/// A time that never comes.
inline constexpr uint64_t kNever = UINT64_MAX;

/// What is too late for 64 bits never comes.
constexpr uint64_t SaturatingAdd(uint64_t a, uint64_t b) { return a > kNever - b ? kNever : a + b; }

/// What is too long for 64 bits is for ever.
constexpr uint64_t MicrosecondsToNs(uint64_t us) { return us > kNever / 1000 ? kNever : us * 1000; }

}  // namespace nereid::schedule
