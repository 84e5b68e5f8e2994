// SPDX-License-Identifier: Apache-2.0
#include "python/metrics.h"

#include <charconv>
#include <cstring>
#include <memory>
#include <string>

namespace nereid::python {

using backend::Error;

namespace {

/// A worker has no more metrics and families than this.
constexpr size_t kMaxMetrics = 100'000;

struct DeleteParameter {
  void operator()(TRITONSERVER_Parameter* label) const { TRITONSERVER_ParameterDelete(label); }
};
using Label = std::unique_ptr<TRITONSERVER_Parameter, DeleteParameter>;

struct DeleteArguments {
  void operator()(TRITONSERVER_MetricArgs* arguments) const {
    const Error deleted(TRITONSERVER_MetricArgsDelete(arguments));
  }
};
using Arguments = std::unique_ptr<TRITONSERVER_MetricArgs, DeleteArguments>;

Error ReadBuckets(std::string_view text, Arguments* arguments) {
  if (text.empty()) {
    return {};
  }
  std::vector<double> buckets((text.size() - 1) / sizeof(double));
  if (!buckets.empty()) {
    std::memcpy(buckets.data(), text.data() + 1, buckets.size() * sizeof(double));
  }
  TRITONSERVER_MetricArgs* made = nullptr;
  NEREID_BACKEND_TRY(TRITONSERVER_MetricArgsNew(&made));
  arguments->reset(made);
  return Error(TRITONSERVER_MetricArgsSetHistogram(made, buckets.data(), buckets.size()));
}

Error Missing() {
  return Error::Internal(
      "Invalid metric operation as the corresponding 'MetricFamily' has been deleted. The "
      "'MetricFamily' object should be deleted AFTER its corresponding 'Metric' objects have been "
      "deleted.");
}

Error TooMany() {
  return Error::Internal("a Python model has at most " + std::to_string(kMaxMetrics) + " metrics");
}

}  // namespace

uint64_t NumberOf(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void Metrics::Clear() {
  for (const auto& [number, metric] : metrics_) {
    const Error deleted(TRITONSERVER_MetricDelete(metric.metric));
  }
  for (const auto& [number, family] : families_) {
    const Error deleted(TRITONSERVER_MetricFamilyDelete(family.family));
  }
  metrics_.clear();
  families_.clear();
}

Error Metrics::NewFamily(const std::vector<std::string_view>& arguments, uint64_t* number) {
  if (arguments.size() != 3) {
    return Error::InvalidArgument("a metric family needs a name, a description and a kind");
  }
  if (families_.size() >= kMaxMetrics) {
    return TooMany();
  }
  Family family;
  NEREID_BACKEND_TRY(TRITONSERVER_MetricFamilyNew(
      &family.family, static_cast<TRITONSERVER_MetricKind>(NumberOf(arguments[2])),
      std::string(arguments[0]).c_str(), std::string(arguments[1]).c_str()));
  *number = ++last_;
  families_[*number] = family;
  return {};
}

Error Metrics::DeleteFamily(uint64_t number) {
  const auto found = families_.find(number);
  if (found == families_.end()) {
    return Missing();
  }
  for (auto metric = metrics_.begin(); metric != metrics_.end();) {
    if (metric->second.family != number) {
      ++metric;
      continue;
    }
    const Error deleted(TRITONSERVER_MetricDelete(metric->second.metric));
    metric = metrics_.erase(metric);
  }
  Error deleted(TRITONSERVER_MetricFamilyDelete(found->second.family));
  families_.erase(found);
  return deleted;
}

Error Metrics::New(const std::vector<std::string_view>& arguments, uint64_t* number) {
  if (arguments.size() < 2 || arguments.size() % 2 != 0) {
    return Error::InvalidArgument("a metric needs a family, buckets and pairs of labels");
  }
  const uint64_t family = NumberOf(arguments[0]);
  const auto found = families_.find(family);
  if (found == families_.end()) {
    return Missing();
  }
  if (metrics_.size() >= kMaxMetrics) {
    return TooMany();
  }
  Arguments buckets;
  NEREID_BACKEND_TRY(ReadBuckets(arguments[1], &buckets));
  std::vector<Label> labels;
  std::vector<const TRITONSERVER_Parameter*> pointers;
  for (size_t i = 2; i < arguments.size(); i += 2) {
    const std::string value(arguments[i + 1]);
    labels.emplace_back(TRITONSERVER_ParameterNew(std::string(arguments[i]).c_str(),
                                                  TRITONSERVER_PARAMETER_STRING, value.c_str()));
    pointers.push_back(labels.back().get());
  }
  Metric metric;
  metric.family = family;
  NEREID_BACKEND_TRY(TRITONSERVER_MetricNewWithArgs(
      &metric.metric, found->second.family, pointers.data(), pointers.size(), buckets.get()));
  *number = ++last_;
  metrics_[*number] = metric;
  return {};
}

Error Metrics::Delete(uint64_t number) {
  const auto found = metrics_.find(number);
  if (found == metrics_.end()) {
    return Missing();
  }
  Error deleted(TRITONSERVER_MetricDelete(found->second.metric));
  metrics_.erase(found);
  return deleted;
}

Error Metrics::Find(uint64_t number, TRITONSERVER_Metric** metric) const {
  const auto found = metrics_.find(number);
  if (found == metrics_.end()) {
    return Missing();
  }
  *metric = found->second.metric;
  return {};
}

Error Metrics::Change(uint64_t number, std::string_view operation, double value) {
  TRITONSERVER_Metric* metric = nullptr;
  NEREID_BACKEND_TRY(Find(number, &metric));
  if (operation == "increment") {
    return Error(TRITONSERVER_MetricIncrement(metric, value));
  }
  if (operation == "set") {
    return Error(TRITONSERVER_MetricSet(metric, value));
  }
  if (operation == "observe") {
    return Error(TRITONSERVER_MetricObserve(metric, value));
  }
  return Error::InvalidArgument("metrics have no operation '" + std::string(operation) + "'");
}

Error Metrics::Value(uint64_t number, double* value) {
  TRITONSERVER_Metric* metric = nullptr;
  NEREID_BACKEND_TRY(Find(number, &metric));
  return Error(TRITONSERVER_MetricValue(metric, value));
}

}  // namespace nereid::python
