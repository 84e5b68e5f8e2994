// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/choose_exposition.h"

#include <algorithm>

#include "frontend/http/field_text.h"

namespace nereid::frontend::metrics {
namespace {

using http::EqualsIgnoringCase;
using http::TakeUntil;
using http::Trim;

/// One media range of an Accept field, such as "text/plain;version=0.0.4;q=0.5".
struct MediaRange {
  std::string_view type;
  std::string_view version;
  int weight = 1000;  // of a thousand
};

/// Returns a weight of RFC 9110, section 12.4.2, in thousandths: "1", "0.5", "0.123". Others are 0.
int ParseWeight(std::string_view text) {
  if (text.empty() || (text[0] != '0' && text[0] != '1') || text.size() > 5) return 0;
  if (text.size() > 1 && text[1] != '.') return 0;
  int weight = (text[0] - '0') * 1000;
  int unit = 100;
  for (const char c : text.substr(std::min<size_t>(2, text.size()))) {
    if (c < '0' || c > '9') return 0;
    weight += unit * (c - '0');
    unit /= 10;
  }
  return std::min(weight, 1000);
}

MediaRange ParseRange(std::string_view text) {
  MediaRange range;
  range.type = Trim(TakeUntil(&text, ';'));
  while (!text.empty()) {
    std::string_view value = TakeUntil(&text, ';');
    const std::string_view name = Trim(TakeUntil(&value, '='));
    value = Trim(value);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (EqualsIgnoringCase(name, "q")) range.weight = ParseWeight(value);
    if (EqualsIgnoringCase(name, "version")) range.version = value;
  }
  return range;
}

}  // namespace

telemetry::Exposition ChooseExposition(std::string_view accept) {
  int open_metrics = 0, text = 0;
  while (!accept.empty()) {
    const MediaRange range = ParseRange(TakeUntil(&accept, ','));
    if (EqualsIgnoringCase(range.type, "application/openmetrics-text")) {
      const bool is_known =
          range.version.empty() || range.version == "1.0.0" || range.version == "0.0.1";
      if (is_known) open_metrics = std::max(open_metrics, range.weight);
    } else if (EqualsIgnoringCase(range.type, "text/plain")) {
      text = std::max(text, range.weight);
    }
  }
  return open_metrics > 0 && open_metrics >= text ? telemetry::Exposition::kOpenMetrics
                                                  : telemetry::Exposition::kPrometheusText;
}

}  // namespace nereid::frontend::metrics
