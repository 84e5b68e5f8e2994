// SPDX-License-Identifier: Apache-2.0
#include "api/timeout_text.h"

#include "base/parse_number.h"

namespace nereid::api {
namespace {

// A timeout of this length, a year, or more means no deadline.
constexpr uint64_t kEndlessNs = uint64_t{366} * 24 * 3600 * 1'000'000'000;
constexpr size_t kMaxGrpcDigits = 8;
constexpr size_t kMaxDigits = 19;

uint64_t UnitNs(char unit) {
  switch (unit) {
    case 'H':
      return 3'600'000'000'000;
    case 'M':
      return 60'000'000'000;
    case 'S':
      return 1'000'000'000;
    case 'm':
      return 1'000'000;
    case 'u':
      return 1'000;
    case 'n':
      return 1;
    default:
      return 0;
  }
}

std::optional<uint64_t> ParseNumber(std::string_view digits, size_t max_digits, uint64_t unit_ns) {
  if (digits.empty() || digits.size() > max_digits || unit_ns == 0) return std::nullopt;
  const auto value = base::ParseWhole<uint64_t>(digits);
  if (!value) return std::nullopt;
  uint64_t ns = 0;
  return __builtin_mul_overflow(*value, unit_ns, &ns) ? UINT64_MAX : ns;
}

}  // namespace

std::optional<uint64_t> ParseGrpcTimeout(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return ParseNumber(text.substr(0, text.size() - 1), kMaxGrpcDigits, UnitNs(text.back()));
}

std::optional<uint64_t> ParseMilliseconds(std::string_view text) {
  return ParseNumber(text, kMaxDigits, UnitNs('m'));
}

uint64_t DeadlineAfter(uint64_t now_ns, uint64_t timeout_ns) {
  return timeout_ns < kEndlessNs ? now_ns + timeout_ns : 0;
}

}  // namespace nereid::api
