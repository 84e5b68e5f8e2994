// SPDX-License-Identifier: Apache-2.0
#include "telemetry/metric_writer.h"

#include <charconv>
#include <cmath>

namespace nereid::telemetry {
namespace {

std::string EscapeHelp(std::string_view help) {
  std::string escaped;
  for (char c : help) {
    if (c == '\n') {
      escaped += "\\n";
    } else {
      if (c == '\\') escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string FormatMetricValue(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  // Byte counts and sums of time are read by people, so whole numbers are written without an
  // exponent. Below 1e17 they fit in int64.
  if (std::fabs(value) < 1e17 && value == std::trunc(value)) {
    return std::to_string(static_cast<int64_t>(value));
  }
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general);
  return std::string(buffer, end.ptr);
}

void FamilyWriter::Line(std::string_view suffix, const Labels& labels, std::string_view more_name,
                        std::string_view more_value, std::string_view value) {
  lines_.append(name_).append(suffix);
  if (!labels.text().empty() || !more_name.empty()) {
    lines_.append("{").append(labels.text());
    if (!more_name.empty()) {
      if (!labels.text().empty()) lines_ += ',';
      lines_.append(more_name).append("=\"").append(more_value).append("\"");
    }
    lines_ += '}';
  }
  lines_.append(" ").append(value).append("\n");
}

void FamilyWriter::Sample(const Labels& labels, uint64_t value) {
  if (Admit(labels)) Line("", labels, std::to_string(value));
}

void FamilyWriter::Sample(const Labels& labels, double value) {
  if (Admit(labels)) Line("", labels, FormatMetricValue(value));
}

void FamilyWriter::Sample(const Labels& labels, const Counter& counter) {
  if (counter.is_whole()) {
    Sample(labels, counter.whole());
  } else {
    Sample(labels, counter.value());
  }
}

void FamilyWriter::Sample(const Labels& labels, const HistogramSnapshot& histogram) {
  if (!Admit(labels)) return;
  const std::string total = std::to_string(histogram.TotalCount());
  Line("_count", labels, total);
  Line("_sum", labels, FormatMetricValue(histogram.sum));
  uint64_t cumulative = 0;
  for (size_t i = 0; i < histogram.bounds.size() && i < histogram.counts.size(); ++i) {
    cumulative += histogram.counts[i];
    Line("_bucket", labels, "le", FormatMetricValue(histogram.bounds[i]),
         std::to_string(cumulative));
  }
  Line("_bucket", labels, "le", "+Inf", total);
}

void FamilyWriter::Sample(const Labels& labels, const SummarySnapshot& summary) {
  if (!Admit(labels)) return;
  Line("_count", labels, std::to_string(summary.count));
  Line("_sum", labels, std::to_string(summary.sum));
  for (const auto& [quantile, value] : summary.quantiles) {
    Line("", labels, "quantile", FormatMetricValue(quantile), FormatMetricValue(value));
  }
}

FamilyWriter& MetricWriter::FamilyOfType(std::string_view type, std::string_view name,
                                         std::string_view help) {
  const auto found = by_name_.find(std::string(name));
  if (found != by_name_.end()) return found->second->type_ == type ? *found->second : dropped_;
  FamilyWriter& family =
      families_.emplace_back(FamilyWriter(type, std::string(name), std::string(help)));
  by_name_.emplace(std::string(name), &family);
  return family;
}

std::string MetricWriter::Text() const {
  std::string text;
  for (const FamilyWriter& family : families_) {
    if (family.lines_.empty()) continue;
    if (!family.help_.empty()) {
      text.append("# HELP ")
          .append(family.name_)
          .append(" ")
          .append(EscapeHelp(family.help_))
          .append("\n");
    }
    text.append("# TYPE ").append(family.name_).append(" ").append(family.type_).append("\n");
    text.append(family.lines_);
  }
  return text;
}

}  // namespace nereid::telemetry
