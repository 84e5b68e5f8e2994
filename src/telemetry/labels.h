// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace nereid::telemetry {

/// Returns whether `name` is a valid metric name: [a-zA-Z_:][a-zA-Z0-9_:]*.
bool IsValidMetricName(std::string_view name);

/// Returns whether `name` is a valid label name: [a-zA-Z_][a-zA-Z0-9_]*, without "__" at the
/// beginning (reserved by Prometheus), and neither "le" nor "quantile" (used in histograms and
/// summaries).
bool IsValidLabelName(std::string_view name);

/// The labels that distinguish the metrics of one family. Immutable and sorted by name. If a name
/// occurs twice, the last value is used. The text form is made once, so that a collector that
/// writes many families with the same labels escapes them only once.
class Labels {
 public:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  Labels() = default;
  Labels(Pairs pairs);  // NOLINT: implicit by design
  Labels(std::initializer_list<std::pair<std::string, std::string>> pairs) : Labels(Pairs(pairs)) {}

  /// Returns these labels with one more.
  Labels With(std::string name, std::string value) const;

  const Pairs& pairs() const { return pairs_; }

  /// Returns the labels as they stand between the braces of the text format, such as
  /// `model="a",version="1"`; empty without labels. A character that a label name may not contain
  /// is replaced by '_', so that one invalid name (from a model's metric tags) does not invalidate
  /// the whole page. Labels with equal texts denote the same metric.
  const std::string& text() const { return text_; }

  /// Checks all label names. INVALID_ARG with the first invalid one.
  base::Status Validate() const;

 private:
  Pairs pairs_;
  std::string text_;
};

/// Labels with one more whose value differs from sample to sample, such as a reason. Cheaper than
/// Labels::With for many values, because only the value is escaped for each.
class LabelSeries {
 public:
  LabelSeries(const Labels& labels, std::string_view name);

  /// Appends the text of the labels with this value, as Labels::text() has it.
  void AppendText(std::string_view value, std::string* out) const;

 private:
  std::string before_, after_;  // the text around the value, with its quotes
};

}  // namespace nereid::telemetry
