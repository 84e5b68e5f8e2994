// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace nereid::telemetry {

/// [a-zA-Z_:][a-zA-Z0-9_:]*, the names a metric may have.
bool IsValidMetricName(std::string_view name);

/// [a-zA-Z_][a-zA-Z0-9_]*, not beginning with "__" (kept by Prometheus for itself), not "le" or
/// "quantile" (kept for the lines of histograms and summaries).
bool IsValidLabelName(std::string_view name);

/// The labels that tell one child of a family from another. Immutable; sorted by name; of labels
/// with the same name the last given wins. Its text is made once, so that a collector that writes
/// many families with the same labels pays for the escaping once.
class Labels {
 public:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  Labels() = default;
  Labels(Pairs pairs);  // NOLINT: implicit by design
  Labels(std::initializer_list<std::pair<std::string, std::string>> pairs) : Labels(Pairs(pairs)) {}

  /// These labels and one more.
  Labels With(std::string name, std::string value) const;

  const Pairs& pairs() const { return pairs_; }

  /// `model="a",version="1"` as the text exposition has it between the braces; "" without labels.
  /// A character that a label name may not have is written as '_', so that one bad name (from a
  /// model's metric tags) does not spoil the page. Equal texts mean the same child.
  const std::string& text() const { return text_; }

  /// INVALID_ARGUMENT naming the first name that is no label name.
  base::Status Validate() const;

 private:
  Pairs pairs_;
  std::string text_;
};

}  // namespace nereid::telemetry
