// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nereid::codec::json {

/// 10^k to 126 significant bits: floor(10^k * 2^(125 - floor(log2(10^k)))) + 1, split into two
/// 63-bit halves, the form that the search for the shortest decimal needs.
struct PowerOfTen {
  uint64_t high = 0;  // the upper 63 bits
  uint64_t low = 0;   // the lower 63 bits
};

inline constexpr int kMinPower = -345;
inline constexpr int kMaxPower = 330;

struct PowersOfTen {
  PowerOfTen entries[kMaxPower - kMinPower + 1];
};
extern const PowersOfTen kPowersOfTen;

/// Returns the entry for 10^k, kMinPower <= k <= kMaxPower.
inline const PowerOfTen& TenToThe(int k) { return kPowersOfTen.entries[k - kMinPower]; }

/// Returns floor(log2(10^k)) for |k| < 1000.
inline int FloorLog2TenToThe(int k) {
  return static_cast<int>((int64_t{k} * 913'124'641'741) >> 38);  // log2(10) * 2^38
}

}  // namespace nereid::codec::json
