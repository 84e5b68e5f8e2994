// SPDX-License-Identifier: Apache-2.0
// Rules for decoupled responses, the response cache and the model's own metrics.
#include "config/rules/sections.h"

namespace nereid::config::rules {
namespace {

void CacheNeedsOneResponse(const Proto& config, Findings& findings) {
  const bool decoupled = config.model_transaction_policy().decoupled();
  if (!decoupled || !config.response_cache().enable()) return;
  findings.Add("response_cache.enable",
               "Response Cache does not currently support model " + config.name() +
                   " with 'decoupled' transaction policy. Please disable the response cache.");
}

constexpr Rule<Proto> kRules[] = {
    {{"responses.decoupled_cache", "response_cache.enable",
      "A decoupled model has no response cache: a request has any number of responses.",
      "response_cache off", "Remove response_cache or model_transaction_policy.decoupled."},
     CacheNeedsOneResponse},
};

struct MetricSubject {
  const inference::ModelMetrics::MetricControl& control;
  int index;
  std::string Path(const char* field) const {
    return At("model_metrics.metric_control", index) + "." + field;
  }
};

void MetricIdentified(const MetricSubject& subject, Findings& findings) {
  if (subject.control.has_metric_identifier()) return;
  findings.Add(subject.Path("metric_identifier"),
               "metric control must specify 'metric_identifier'");
}

void FamilyGiven(const MetricSubject& subject, Findings& findings) {
  const bool absent = !subject.control.has_metric_identifier();
  if (absent || !subject.control.metric_identifier().family().empty()) return;
  findings.Add(subject.Path("metric_identifier.family"),
               "metric identifier must specify non-empty 'family'");
}

void HistogramGiven(const MetricSubject& subject, Findings& findings) {
  if (subject.control.has_histogram_options()) return;
  findings.Add(subject.Path("histogram_options"),
               "metric control must specify 'histogram_options'");
}

void BucketsGiven(const MetricSubject& subject, Findings& findings) {
  const bool absent = !subject.control.has_histogram_options();
  if (absent || !subject.control.histogram_options().buckets().empty()) return;
  findings.Add(subject.Path("histogram_options.buckets"),
               "histogram options must specify non-empty 'buckets'");
}

constexpr Rule<MetricSubject> kMetricRules[] = {
    {{"metrics.identifier", "model_metrics.metric_control.metric_identifier",
      "A metric control says which metric it is about.", "a metric_identifier",
      "Add metric_identifier { family: \"...\" }."},
     MetricIdentified},
    {{"metrics.family", "model_metrics.metric_control.metric_identifier.family",
      "A metric identifier names a family of metrics.", "the name of a metric family",
      "Set family to a name as the metrics page shows it."},
     FamilyGiven},
    {{"metrics.histogram", "model_metrics.metric_control.histogram_options",
      "A metric control has options of a histogram.", "histogram_options",
      "Add histogram_options { buckets: [ ... ] }."},
     HistogramGiven},
    {{"metrics.buckets", "model_metrics.metric_control.histogram_options.buckets",
      "The options of a histogram list its buckets.", "one upper bound or more",
      "List the upper bounds of the buckets."},
     BucketsGiven},
};

}  // namespace

void CheckResponses(const Proto& config, Findings& findings) {
  Apply(kRules, config, findings);
  int index = 0;
  for (const auto& control : config.model_metrics().metric_control()) {
    Apply(kMetricRules, MetricSubject{control, index++}, findings);
  }
}

void ListResponses(std::vector<RuleInfo>* list) {
  List(kRules, Stage::kPoll, list);
  List(kMetricRules, Stage::kPoll, list);
}

}  // namespace nereid::config::rules
