// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "telemetry/exposition.h"
#include "telemetry/instruments.h"
#include "telemetry/label_set.h"
#include "telemetry/labels.h"
#include "telemetry/latency_summary.h"

namespace nereid::telemetry {

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
  /// Writes the sample of `series` with this value of its label.
  void Sample(const LabelSeries& series, std::string_view label_value, uint64_t value);

 private:
  friend class MetricWriter;
  /// `type` must be a string literal: only a view of it is kept.
  FamilyWriter(Exposition exposition, std::string_view type, std::string name, std::string help)
      : exposition_(exposition), type_(type), name_(std::move(name)), help_(std::move(help)) {}
  /// Appends HELP, TYPE and UNIT, and all samples.
  void AppendTo(std::string* page) const;
  /// Returns the name of the family, which in OpenMetrics may differ from that of its samples.
  std::string_view FamilyName() const;
  std::string_view FamilyType() const;
  bool Admit(const Labels& labels) { return seen_.Add(labels.text()); }
  void Line(std::string_view suffix, std::string_view labels, std::string_view value) {
    Line(suffix, labels, {}, {}, value);
  }
  /// Writes a line with one more label, unless its name is empty.
  void Line(std::string_view suffix, std::string_view labels, std::string_view more_name,
            std::string_view more_value, std::string_view value);
  /// Writes the line of a histogram's bucket.
  void Bucket(const Labels& labels, std::string_view bound, uint64_t cumulative,
              const HistogramSnapshot& histogram, size_t index);
  void CountAndSum(std::string_view labels, std::string_view count, std::string_view sum);

  const Exposition exposition_;
  const std::string_view type_;
  const std::string name_;
  const std::string help_;
  std::string lines_;
  std::string series_text_;  // scratch
  LabelSet seen_;
};

/// Builds a page of metrics. Several writers may add to one family (for example, several models).
/// HELP and TYPE are written once for each family, and the families stand in the order in which
/// they were first named. Not thread-safe.
///
/// A series has the same name in both formats, so that a query works whichever format a scraper
/// asks for. OpenMetrics wants the samples of a counter to end with "_total", and the name of its
/// family not to: nereid_x_total is a sample of the counter nereid_x. A counter with another
/// name, as Triton's are, is therefore of the type "unknown" in OpenMetrics.
class MetricWriter {
 public:
  explicit MetricWriter(Exposition exposition = Exposition::kPrometheusText)
      : exposition_(exposition) {}

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

  /// Returns the page. A family without samples is left out, with its HELP and TYPE lines. In
  /// OpenMetrics a family whose name an earlier one has is left out, too: nereid_x_total beside
  /// a gauge nereid_x.
  std::string Text() const;

 private:
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };

  FamilyWriter& FamilyOfType(std::string_view type, std::string_view name, std::string_view help);

  const Exposition exposition_;
  std::deque<FamilyWriter> families_;  // a deque, so that references to its elements stay valid
  std::unordered_map<std::string, FamilyWriter*, NameHash, std::equal_to<>> by_name_;
  FamilyWriter dropped_{Exposition::kPrometheusText, "", "", ""};
};

}  // namespace nereid::telemetry
