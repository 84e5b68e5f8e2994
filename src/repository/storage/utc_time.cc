// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/utc_time.h"

#include <cstdio>
#include <ctime>

#include "base/parse_number.h"

namespace nereid::repository::storage {
namespace {

tm UtcOf(uint64_t wall_ms) {
  const auto seconds = static_cast<time_t>(wall_ms / 1000);
  tm utc{};
  ::gmtime_r(&seconds, &utc);
  return utc;
}

}  // namespace

std::string BasicTimeText(uint64_t wall_ms) {
  const tm utc = UtcOf(wall_ms);
  char text[80];
  std::snprintf(text, sizeof(text), "%04d%02d%02dT%02d%02d%02dZ", utc.tm_year + 1900,
                utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
  return text;
}

std::string HttpTimeText(uint64_t wall_ms) {
  // Not strftime, whose names follow the locale.
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const tm utc = UtcOf(wall_ms);
  char text[80];
  std::snprintf(text, sizeof(text), "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[utc.tm_wday],
                utc.tm_mday, kMonths[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min,
                utc.tm_sec);
  return text;
}

std::optional<uint64_t> ParseTime(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";
  if (text.size() <= kForm.size() || text.back() != 'Z') return std::nullopt;
  for (size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !is_digit : text[i] != kForm[i]) return std::nullopt;
  }
  const std::string_view fraction = text.substr(kForm.size(), text.size() - kForm.size() - 1);
  if (!fraction.empty() && (fraction.size() < 2 || fraction.front() != '.' ||
                            fraction.find_first_not_of("0123456789", 1) != fraction.npos)) {
    return std::nullopt;
  }
  const auto number = [&](size_t at, size_t size) {
    return base::ParseWhole<int>(text.substr(at, size)).value_or(0);
  };
  tm utc{};
  utc.tm_year = number(0, 4) - 1900;
  utc.tm_mon = number(5, 2) - 1;
  utc.tm_mday = number(8, 2);
  utc.tm_hour = number(11, 2);
  utc.tm_min = number(14, 2);
  utc.tm_sec = number(17, 2);
  const time_t seconds = ::timegm(&utc);
  if (seconds < 0) return std::nullopt;
  return static_cast<uint64_t>(seconds) * 1000;
}

}  // namespace nereid::repository::storage
