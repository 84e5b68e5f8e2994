// SPDX-License-Identifier: Apache-2.0
#include "api/timeout_text.h"

#include "base/duration.h"
#include "base/parse_number.h"

namespace nereid::api {
namespace {

using base::Duration;

// A timeout of this length, a year, or more means no deadline.
constexpr Duration kEndless = Duration::Hours(uint64_t{366} * 24);
constexpr size_t kMaxGrpcDigits = 8;
constexpr size_t kMaxDigits = 19;

using MakeDuration = Duration (*)(uint64_t count);

/// Returns what makes a duration in a unit of grpc-timeout; null for an unknown unit.
MakeDuration UnitOf(char unit) {
  switch (unit) {
    case 'H':
      return Duration::Hours;
    case 'M':
      return Duration::Minutes;
    case 'S':
      return Duration::Seconds;
    case 'm':
      return Duration::Milliseconds;
    case 'u':
      return Duration::Microseconds;
    case 'n':
      return Duration::Nanoseconds;
    default:
      return nullptr;
  }
}

std::optional<uint64_t> ParseNumber(std::string_view digits, size_t max_digits, MakeDuration make) {
  if (digits.empty() || digits.size() > max_digits || make == nullptr) return std::nullopt;
  const auto value = base::ParseWhole<uint64_t>(digits);
  if (!value) return std::nullopt;
  return make(*value).ns();
}

}  // namespace

std::optional<uint64_t> ParseGrpcTimeout(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return ParseNumber(text.substr(0, text.size() - 1), kMaxGrpcDigits, UnitOf(text.back()));
}

std::optional<uint64_t> ParseMilliseconds(std::string_view text) {
  return ParseNumber(text, kMaxDigits, Duration::Milliseconds);
}

uint64_t DeadlineAfter(uint64_t now_ns, uint64_t timeout_ns) {
  if (timeout_ns >= kEndless.ns()) return 0;
  return Duration::Nanoseconds(timeout_ns).After(now_ns);
}

}  // namespace nereid::api
