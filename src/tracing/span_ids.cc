// SPDX-License-Identifier: Apache-2.0
#include "tracing/span_ids.h"

#include <sys/random.h>

#include <bit>
#include <cstring>

#include "base/clock.h"

namespace nereid::tracing {
namespace {

/// The generator xoshiro256** (Blackman and Vigna, "Scrambled Linear Pseudorandom Number
/// Generators", 2018): a period of 2^256 - 1 and a nanosecond for a number.
class Generator {
 public:
  Generator() {
    if (::getrandom(words_, sizeof(words_), 0) == sizeof(words_)) return;
    // Only a kernel that forbids the call comes here. The address differs from thread to thread.
    words_[0] = base::SteadyClock().NowNs();
    words_[1] = base::SteadyClock().WallMs();
    words_[2] = reinterpret_cast<uintptr_t>(this);
    words_[3] = 1;  // the state must not be all zeros
    for (int i = 0; i < 16; ++i) Next();
  }

  uint64_t Next() {
    const uint64_t result = std::rotl(words_[1] * 5, 7) * 9;
    const uint64_t shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = std::rotl(words_[3], 45);
    return result;
  }

 private:
  uint64_t words_[4] = {};
};

uint64_t NonZeroBits() {
  uint64_t bits = RandomBits();
  while (bits == 0) bits = RandomBits();
  return bits;
}

}  // namespace

uint64_t RandomBits() {
  thread_local Generator generator;
  return generator.Next();
}

TraceId NewTraceId() {
  const uint64_t halves[] = {NonZeroBits(), RandomBits()};
  TraceId id;
  static_assert(sizeof(halves) == sizeof(id));
  std::memcpy(id.data(), halves, sizeof(id));
  return id;
}

SpanId NewSpanId() {
  const uint64_t bits = NonZeroBits();
  SpanId id;
  static_assert(sizeof(bits) == sizeof(id));
  std::memcpy(id.data(), &bits, sizeof(id));
  return id;
}

}  // namespace nereid::tracing
