// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nereid::telemetry {

/// The format of a page of metrics.
enum class Exposition {
  kPrometheusText,  // Prometheus' text exposition format, version 0.0.4
  kOpenMetrics,     // OpenMetrics 1.0.0
};

/// Returns the Content-Type of an HTTP response in this format; a literal.
std::string_view ContentType(Exposition exposition);

/// Formats a value: whole numbers without exponent or decimal point, other numbers in the shortest
/// form that parses to the same value, and "NaN", "+Inf" and "-Inf".
std::string FormatMetricValue(double value);

/// Formats the value of a label "le" or "quantile". In OpenMetrics it has the canonical form that
/// Go prints: "1.0", "0.5", "1e+06".
std::string FormatBound(double value, Exposition exposition);

}  // namespace nereid::telemetry
