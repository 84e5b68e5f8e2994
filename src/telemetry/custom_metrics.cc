// SPDX-License-Identifier: Apache-2.0
#include "telemetry/custom_metrics.h"

#include <string>

namespace nereid::telemetry {

CustomMetric::CustomMetric(MetricKind kind, Instrument instrument,
                           std::shared_ptr<std::atomic<size_t>> live)
    : kind_(kind), instrument_(std::move(instrument)), live_(std::move(live)) {
  live_->fetch_add(1, std::memory_order_acq_rel);
}

CustomMetric::~CustomMetric() { live_->fetch_sub(1, std::memory_order_acq_rel); }

base::Status CustomMetric::Refuse(std::string_view operation) const {
  return base::Status::Unsupported("a metric of kind " + std::string(MetricKindName(kind_)) +
                                   " does not support " + std::string(operation));
}

base::Result<double> CustomMetric::Value() const {
  if (const auto* counter = std::get_if<std::shared_ptr<Counter>>(&instrument_)) {
    return (*counter)->value();
  }
  if (const auto* gauge = std::get_if<std::shared_ptr<Gauge>>(&instrument_)) {
    return (*gauge)->value();
  }
  return Refuse("Value");
}

base::Status CustomMetric::Increment(double amount) {
  if (const auto* counter = std::get_if<std::shared_ptr<Counter>>(&instrument_)) {
    return (*counter)->Add(amount);
  }
  if (const auto* gauge = std::get_if<std::shared_ptr<Gauge>>(&instrument_)) {
    (*gauge)->Add(amount);
    return {};
  }
  return Refuse("Increment");
}

base::Status CustomMetric::Set(double value) {
  const auto* gauge = std::get_if<std::shared_ptr<Gauge>>(&instrument_);
  if (gauge == nullptr) return Refuse("Set");
  (*gauge)->Set(value);
  return {};
}

base::Status CustomMetric::Observe(double value) {
  const auto* histogram = std::get_if<std::shared_ptr<Histogram>>(&instrument_);
  if (histogram == nullptr) return Refuse("Observe");
  (*histogram)->Observe(value);
  return {};
}

base::Result<std::unique_ptr<CustomMetricFamily>> CustomMetricFamily::Create(
    Registry& registry, MetricKind kind, std::string_view name, std::string_view help) {
  const auto wrap = [&](auto family) {
    return std::unique_ptr<CustomMetricFamily>(
        new CustomMetricFamily(kind, std::string(name), std::move(family)));
  };
  switch (kind) {
    case MetricKind::kCounter: {
      NEREID_ASSIGN_OR_RETURN(auto family, registry.Counters(name, help));
      return wrap(std::move(family));
    }
    case MetricKind::kGauge: {
      NEREID_ASSIGN_OR_RETURN(auto family, registry.Gauges(name, help));
      return wrap(std::move(family));
    }
    case MetricKind::kHistogram: {
      NEREID_ASSIGN_OR_RETURN(auto family, registry.Histograms(name, help));
      return wrap(std::move(family));
    }
  }
  return base::Status::InvalidArgument("metric family '" + std::string(name) +
                                       "' has a kind that is neither counter, gauge nor histogram");
}

base::Result<std::unique_ptr<CustomMetric>> CustomMetricFamily::NewMetric(
    const Labels& labels, std::optional<std::vector<double>> bounds) {
  if (bounds.has_value() != (kind_ == MetricKind::kHistogram)) {
    return base::Status::InvalidArgument(
        "metric of family '" + name_ +
        (bounds ? "': only a histogram takes buckets" : "': a histogram needs its buckets"));
  }
  const auto wrap = [&](auto metric) {
    return std::unique_ptr<CustomMetric>(new CustomMetric(kind_, std::move(metric), live_));
  };
  if (const auto* counters = std::get_if<std::shared_ptr<CounterFamily>>(&family_)) {
    NEREID_ASSIGN_OR_RETURN(auto metric, (*counters)->Get(labels));
    return wrap(std::move(metric));
  }
  if (const auto* gauges = std::get_if<std::shared_ptr<GaugeFamily>>(&family_)) {
    NEREID_ASSIGN_OR_RETURN(auto metric, (*gauges)->Get(labels));
    return wrap(std::move(metric));
  }
  NEREID_ASSIGN_OR_RETURN(auto checked, Histogram::CheckBounds(std::move(*bounds)));
  const auto& histograms = std::get<std::shared_ptr<HistogramFamily>>(family_);
  NEREID_ASSIGN_OR_RETURN(auto metric, histograms->Get(labels, std::move(checked)));
  return wrap(std::move(metric));
}

base::Status CustomMetricFamily::CheckDeletable() const {
  const size_t live = live_->load(std::memory_order_acquire);
  if (live == 0) return {};
  return base::Status::Internal("metric family '" + name_ + "' still has " + std::to_string(live) +
                                " metrics; delete them first");
}

}  // namespace nereid::telemetry
