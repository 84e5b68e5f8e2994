// SPDX-License-Identifier: Apache-2.0
#include "telemetry/exposition.h"

#include <charconv>
#include <cmath>
#include <cstdint>

namespace nereid::telemetry {
namespace {

std::string Shortest(double value, std::chars_format format) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  return std::string(buffer, end.ptr);
}

}  // namespace

std::string_view ContentType(Exposition exposition) {
  return exposition == Exposition::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; charset=utf-8";
}

std::string FormatMetricValue(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  // Byte counts and sums of time are read by people, so whole numbers are written without an
  // exponent. Below 1e17 they fit in int64.
  if (std::fabs(value) < 1e17 && value == std::trunc(value)) {
    return std::to_string(static_cast<int64_t>(value));
  }
  return Shortest(value, std::chars_format::general);
}

std::string FormatBound(double value, Exposition exposition) {
  if (exposition == Exposition::kPrometheusText || !std::isfinite(value)) {
    return FormatMetricValue(value);
  }
  if (std::fabs(value) >= 1e6) return Shortest(value, std::chars_format::scientific);
  std::string text = Shortest(value, std::chars_format::general);
  if (value == std::trunc(value)) text = FormatMetricValue(value) + ".0";
  return text;
}

}  // namespace nereid::telemetry
