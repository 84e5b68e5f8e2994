// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nereid::repository {

/// The finalizer of SplitMix64: each bit of the result depends on each bit of the argument.
constexpr uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Adds a number to a hash; each bit of the result depends on each bit of both.
constexpr uint64_t Mix(uint64_t hash, uint64_t number) {
  return Mix(hash + number + 0x9e3779b97f4a7c15ULL);
}

}  // namespace nereid::repository
