// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "telemetry/instruments.h"
#include "telemetry/labels.h"
#include "telemetry/latency_summary.h"

namespace nereid::telemetry {

/// The Content-Type of an HTTP response with the text format.
inline constexpr std::string_view kExpositionContentType = "text/plain; charset=utf-8";

/// Formats a value for the text format: whole numbers without exponent or decimal point, other
/// numbers in the shortest form that parses to the same value, and "NaN", "+Inf" and "-Inf".
std::string FormatMetricValue(double value);

/// Writes the samples of one family, in the order of the calls. A second sample with the same
/// labels is dropped, because scrapers refuse a page that contains a series twice.
class FamilyWriter {
 public:
  /// Write one sample: one line, or several for a histogram or summary.
  void Sample(const Labels& labels, uint64_t value);
  void Sample(const Labels& labels, double value);
  void Sample(const Labels& labels, const Counter& counter);
  void Sample(const Labels& labels, const HistogramSnapshot& histogram);
  void Sample(const Labels& labels, const SummarySnapshot& summary);

 private:
  friend class MetricWriter;
  /// `type` must be a string literal: only a view of it is kept.
  FamilyWriter(std::string_view type, std::string name, std::string help)
      : type_(type), name_(std::move(name)), help_(std::move(help)) {}
  bool Admit(const Labels& labels) { return seen_.insert(labels.text()).second; }
  void Line(std::string_view suffix, const Labels& labels, std::string_view value) {
    Line(suffix, labels, {}, {}, value);
  }
  /// Writes a line with one more label, unless its name is empty.
  void Line(std::string_view suffix, const Labels& labels, std::string_view more_name,
            std::string_view more_value, std::string_view value);

  const std::string_view type_;
  const std::string name_;
  const std::string help_;
  std::string lines_;
  std::unordered_set<std::string> seen_;
};

/// Builds a page in the Prometheus text exposition format, version 0.0.4. Several writers may add
/// to one family (for example, several models). HELP and TYPE are written once for each family, and
/// the families stand in the order in which they were first named. Not thread-safe.
class MetricWriter {
 public:
  /// Returns the writer of the family with this name. Only the `help` of the first call is used. If
  /// the name exists with another kind, everything that is written to the result is dropped. The
  /// reference is valid as long as the MetricWriter.
  FamilyWriter& Family(MetricKind kind, std::string_view name, std::string_view help) {
    return FamilyOfType(MetricKindName(kind), name, help);
  }
  /// Returns the writer of a family of summaries. There is no instrument for them; only collectors
  /// write summaries.
  FamilyWriter& Summaries(std::string_view name, std::string_view help) {
    return FamilyOfType("summary", name, help);
  }

  /// Returns the page. A family without samples is left out, with its HELP and TYPE lines.
  std::string Text() const;

 private:
  FamilyWriter& FamilyOfType(std::string_view type, std::string_view name, std::string_view help);

  std::deque<FamilyWriter> families_;  // a deque, so that references to its elements stay valid
  std::unordered_map<std::string, FamilyWriter*> by_name_;
  FamilyWriter dropped_{"", "", ""};
};

}  // namespace nereid::telemetry
