// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "telemetry/metrics.h"

namespace nereid::telemetry {

/// A metric that a plug-in made, with the rules of the C API: every kind has every operation, and
/// refuses those that are not its own. Two with the same family name and labels share one number.
/// The operations may be called from any thread.
class CustomMetric {
 public:
  ~CustomMetric();
  CustomMetric(const CustomMetric&) = delete;
  CustomMetric& operator=(const CustomMetric&) = delete;

  MetricKind kind() const { return kind_; }

  /// Counter and gauge; UNSUPPORTED for a histogram.
  base::Result<double> Value() const;
  /// Counter (INVALID_ARGUMENT if negative) and gauge; UNSUPPORTED for a histogram.
  base::Status Increment(double amount);
  /// Gauge; UNSUPPORTED otherwise.
  base::Status Set(double value);
  /// Histogram; UNSUPPORTED otherwise.
  base::Status Observe(double value);

 private:
  friend class CustomMetricFamily;
  using Instrument =
      std::variant<std::shared_ptr<Counter>, std::shared_ptr<Gauge>, std::shared_ptr<Histogram>>;
  CustomMetric(MetricKind kind, Instrument instrument, std::shared_ptr<std::atomic<size_t>> live);
  base::Status Refuse(std::string_view operation) const;

  const MetricKind kind_;
  const Instrument instrument_;
  const std::shared_ptr<std::atomic<size_t>> live_;  // how many metrics the family handle has
};

/// One plug-in's handle on a family. Handles made with the same name and kind share the family.
class CustomMetricFamily {
 public:
  /// INVALID_ARGUMENT for a bad name, or one that stands with another kind. The help text of the
  /// first handle stays.
  static base::Result<std::unique_ptr<CustomMetricFamily>> Create(Registry& registry,
                                                                  MetricKind kind,
                                                                  std::string_view name,
                                                                  std::string_view help);

  MetricKind kind() const { return kind_; }

  /// INVALID_ARGUMENT for a bad label name, for a histogram without `bounds` or with bounds that
  /// do not ascend, and for `bounds` given to another kind. The family must outlive the metric's
  /// creation only, but see CheckDeletable.
  base::Result<std::unique_ptr<CustomMetric>> NewMetric(
      const Labels& labels, std::optional<std::vector<double>> bounds = std::nullopt);

  /// INTERNAL while metrics made by this handle live: the C API refuses to delete it then.
  base::Status CheckDeletable() const;

 private:
  using Shared = std::variant<std::shared_ptr<CounterFamily>, std::shared_ptr<GaugeFamily>,
                              std::shared_ptr<HistogramFamily>>;
  CustomMetricFamily(MetricKind kind, std::string name, Shared family)
      : kind_(kind), name_(std::move(name)), family_(std::move(family)) {}

  const MetricKind kind_;
  const std::string name_;
  const Shared family_;
  const std::shared_ptr<std::atomic<size_t>> live_ = std::make_shared<std::atomic<size_t>>(0);
};

}  // namespace nereid::telemetry
