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

/// A metric that a plug-in has created through the C API. Every kind has every operation and
/// refuses those that it does not support. Two metrics with the same family name and labels share
/// one value. All operations may be called from any thread.
class CustomMetric {
 public:
  ~CustomMetric();
  CustomMetric(const CustomMetric&) = delete;
  CustomMetric& operator=(const CustomMetric&) = delete;

  MetricKind kind() const { return kind_; }

  /// Returns the value of a counter or gauge. UNSUPPORTED for a histogram.
  base::Result<double> Value() const;
  /// Adds `amount` to a counter or gauge. INVALID_ARG for a negative amount to a counter,
  /// UNSUPPORTED for a histogram.
  base::Status Increment(double amount);
  /// Sets the value of a gauge. UNSUPPORTED for other kinds.
  base::Status Set(double value);
  /// Adds an observation to a histogram. UNSUPPORTED for other kinds.
  base::Status Observe(double value);

 private:
  friend class CustomMetricFamily;
  using Instrument =
      std::variant<std::shared_ptr<Counter>, std::shared_ptr<Gauge>, std::shared_ptr<Histogram>>;
  CustomMetric(MetricKind kind, Instrument instrument, std::shared_ptr<std::atomic<size_t>> live);
  base::Status Refuse(std::string_view operation) const;

  const MetricKind kind_;
  const Instrument instrument_;
  // The number of metrics that the family's handle has created and that still exist.
  const std::shared_ptr<std::atomic<size_t>> live_;
};

/// A plug-in's handle to a metric family. Handles with the same name and kind share the family.
class CustomMetricFamily {
 public:
  /// Creates a handle. INVALID_ARG for an invalid name, or if a family of that name exists with
  /// another kind. An existing family keeps its help text.
  static base::Result<std::unique_ptr<CustomMetricFamily>> Create(Registry& registry,
                                                                  MetricKind kind,
                                                                  std::string_view name,
                                                                  std::string_view help);

  MetricKind kind() const { return kind_; }

  /// Creates a metric, or returns a handle to the existing one with the same labels. `bounds` are
  /// the upper bounds of a histogram's buckets. INVALID_ARG for an invalid label name, for a
  /// histogram without `bounds` or with bounds that do not ascend, and for `bounds` with another
  /// kind. The metric does not need this object after the call, but see CheckDeletable.
  base::Result<std::unique_ptr<CustomMetric>> NewMetric(
      const Labels& labels, std::optional<std::vector<double>> bounds = std::nullopt);

  /// Checks that no metric created by this handle exists. INTERNAL otherwise: the C API refuses to
  /// delete the handle then.
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
