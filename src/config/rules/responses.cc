// SPDX-License-Identifier: Apache-2.0
// Decoupled responses, the response cache and the model's own metrics.
#include "config/rules/rule.h"

namespace nereid::config::rules {
namespace {

using MetricControl = inference::ModelMetrics::MetricControl;

Violation CacheNeedsOneResponse(const Proto& config) {
  const bool decoupled = config.model_transaction_policy().decoupled();
  if (!decoupled || !config.response_cache().enable()) return std::nullopt;
  return "Response Cache does not currently support model " + config.name() +
         " with 'decoupled' transaction policy. Please disable the response cache.";
}

constexpr Rule<Proto> kRules[] = {
    {"responses.decoupled_cache", "response_cache", CacheNeedsOneResponse},
};

Violation MetricIdentified(const MetricControl& control) {
  if (control.has_metric_identifier()) return std::nullopt;
  return "metric control must specify 'metric_identifier'";
}

Violation FamilyGiven(const MetricControl& control) {
  if (!control.metric_identifier().family().empty()) return std::nullopt;
  return "metric identifier must specify non-empty 'family'";
}

Violation HistogramGiven(const MetricControl& control) {
  if (control.has_histogram_options()) return std::nullopt;
  return "metric control must specify 'histogram_options'";
}

Violation BucketsGiven(const MetricControl& control) {
  if (!control.histogram_options().buckets().empty()) return std::nullopt;
  return "histogram options must specify non-empty 'buckets'";
}

constexpr Rule<MetricControl> kMetricRules[] = {
    {"metrics.identifier", "model_metrics.metric_control.metric_identifier", MetricIdentified},
    {"metrics.family", "model_metrics.metric_control.metric_identifier.family", FamilyGiven},
    {"metrics.histogram", "model_metrics.metric_control.histogram_options", HistogramGiven},
    {"metrics.buckets", "model_metrics.metric_control.histogram_options.buckets", BucketsGiven},
};

}  // namespace

Violation CheckResponses(const Proto& config) {
  if (auto violation = FirstViolation(kRules, config)) return violation;
  for (const MetricControl& control : config.model_metrics().metric_control()) {
    if (auto violation = FirstViolation(kMetricRules, control)) return violation;
  }
  return std::nullopt;
}

void ListResponses(std::vector<RuleInfo>* list) {
  List(kRules, list);
  List(kMetricRules, list);
}

}  // namespace nereid::config::rules
