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

/// What an HTTP answer that carries the text says of itself.
inline constexpr std::string_view kExpositionContentType = "text/plain; charset=utf-8";

/// A value as the text exposition has it: whole numbers without exponent or point, others in the
/// shortest form that reads back the same, "NaN", "+Inf", "-Inf".
std::string FormatMetricValue(double value);

/// The samples of one family, in the order written. A second sample with the labels of an earlier
/// one is left out: scrapers refuse a page that has a series twice.
class FamilyWriter {
 public:
  void Sample(const Labels& labels, uint64_t value);
  void Sample(const Labels& labels, double value);
  void Sample(const Labels& labels, const Counter& counter);
  void Sample(const Labels& labels, const HistogramSnapshot& histogram);
  void Sample(const Labels& labels, const SummarySnapshot& summary);

 private:
  friend class MetricWriter;
  /// `type` is a literal.
  FamilyWriter(std::string_view type, std::string name, std::string help)
      : type_(type), name_(std::move(name)), help_(std::move(help)) {}
  bool Admit(const Labels& labels) { return seen_.insert(labels.text()).second; }
  void Line(std::string_view suffix, const Labels& labels, std::string_view value) {
    Line(suffix, labels, {}, {}, value);
  }
  /// With one label more, unless its name is empty.
  void Line(std::string_view suffix, const Labels& labels, std::string_view more_name,
            std::string_view more_value, std::string_view value);

  const std::string_view type_;
  const std::string name_;
  const std::string help_;
  std::string lines_;
  std::unordered_set<std::string> seen_;
};

/// Makes a page of the Prometheus text exposition format (version 0.0.4). Families may be continued
/// (several models write into one family): HELP and TYPE come once, and the families stand in the
/// order in which they were first named. Not for several threads at once.
class MetricWriter {
 public:
  /// The family of that name; `help` counts the first time only. If the name stands already with
  /// another kind, what is written to the result is dropped. Valid as long as the writer.
  FamilyWriter& Family(MetricKind kind, std::string_view name, std::string_view help) {
    return FamilyOfType(MetricKindName(kind), name, help);
  }
  /// The same for a family of summaries, which are no instruments: collectors alone write them.
  FamilyWriter& Summaries(std::string_view name, std::string_view help) {
    return FamilyOfType("summary", name, help);
  }

  /// The page. A family without samples leaves nothing in it, HELP and TYPE included.
  std::string Text() const;

 private:
  FamilyWriter& FamilyOfType(std::string_view type, std::string_view name, std::string_view help);

  std::deque<FamilyWriter> families_;  // a deque: its elements stay where they are
  std::unordered_map<std::string, FamilyWriter*> by_name_;
  FamilyWriter dropped_{"", "", ""};
};

}  // namespace nereid::telemetry
