// SPDX-License-Identifier: Apache-2.0
#include "telemetry/custom_metrics.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "abi/error.h"
#include "abi/parameter.h"
#include "abi/process_metrics_registry.h"

using namespace nereid;

struct TRITONSERVER_MetricFamily {
  std::unique_ptr<telemetry::CustomMetricFamily> family;
};

struct TRITONSERVER_Metric {
  std::unique_ptr<telemetry::CustomMetric> metric;
};

struct TRITONSERVER_MetricArgs {
  std::optional<std::vector<double>> buckets;
};

namespace {

bool IsKind(TRITONSERVER_MetricKind kind) {
  return kind >= TRITONSERVER_METRIC_KIND_COUNTER && kind <= TRITONSERVER_METRIC_KIND_HISTOGRAM;
}

// The enumerators of both enums have the same values.
TRITONSERVER_MetricKind FromKind(telemetry::MetricKind kind) {
  return static_cast<TRITONSERVER_MetricKind>(kind);
}

base::Result<telemetry::Labels> ReadLabels(const TRITONSERVER_Parameter** labels, uint64_t count) {
  telemetry::Labels::Pairs pairs;
  for (uint64_t i = 0; i < count; ++i) {
    if (labels[i] == nullptr) {
      return base::Status::InvalidArgument("label " + std::to_string(i) + " must not be NULL");
    }
    const auto* value = std::get_if<std::string>(&labels[i]->value);
    if (value == nullptr) {
      return base::Status::InvalidArgument("label '" + labels[i]->name +
                                           "' must be a parameter of type STRING, not " +
                                           TRITONSERVER_ParameterTypeString(labels[i]->type()));
    }
    pairs.emplace_back(labels[i]->name, *value);
  }
  return telemetry::Labels(std::move(pairs));
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_MetricFamilyNew(TRITONSERVER_MetricFamily** family,
                                                 TRITONSERVER_MetricKind kind, const char* name,
                                                 const char* description) {
  NEREID_CHECK_NOT_NULL(family, name, description);
  return abi::Guard([&]() -> base::Status {
    if (!IsKind(kind)) {
      return base::Status::InvalidArgument("unknown metric kind " +
                                           std::to_string(static_cast<int>(kind)) +
                                           " for metric family '" + name + "'");
    }
    NEREID_ASSIGN_OR_RETURN(
        auto made,
        telemetry::CustomMetricFamily::Create(
            *abi::ProcessRegistry(), static_cast<telemetry::MetricKind>(kind), name, description));
    *family = new TRITONSERVER_MetricFamily{std::move(made)};
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_MetricFamilyDelete(TRITONSERVER_MetricFamily* family) {
  if (family == nullptr) return nullptr;
  return abi::Guard([&] {
    NEREID_RETURN_IF_ERROR(family->family->CheckDeletable());
    delete family;
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_GetMetricFamilyKind(TRITONSERVER_MetricFamily* family,
                                                     TRITONSERVER_MetricKind* kind) {
  NEREID_CHECK_NOT_NULL(family, kind);
  *kind = FromKind(family->family->kind());
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MetricArgsNew(TRITONSERVER_MetricArgs** args) {
  NEREID_CHECK_NOT_NULL(args);
  return abi::Guard([&] {
    *args = new TRITONSERVER_MetricArgs();
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_MetricArgsSetHistogram(TRITONSERVER_MetricArgs* args,
                                                        const double* buckets,
                                                        uint64_t buckets_count) {
  NEREID_CHECK_NOT_NULL(args);
  if (buckets_count > 0) NEREID_CHECK_NOT_NULL(buckets);
  return abi::Guard([&] {
    args->buckets.emplace(buckets, buckets + buckets_count);
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_MetricArgsDelete(TRITONSERVER_MetricArgs* args) {
  delete args;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MetricNew(TRITONSERVER_Metric** metric,
                                           TRITONSERVER_MetricFamily* family,
                                           const TRITONSERVER_Parameter** labels,
                                           uint64_t label_count) {
  return TRITONSERVER_MetricNewWithArgs(metric, family, labels, label_count, nullptr);
}

TRITONSERVER_Error* TRITONSERVER_MetricNewWithArgs(TRITONSERVER_Metric** metric,
                                                   TRITONSERVER_MetricFamily* family,
                                                   const TRITONSERVER_Parameter** labels,
                                                   uint64_t label_count,
                                                   const TRITONSERVER_MetricArgs* args) {
  NEREID_CHECK_NOT_NULL(metric, family);
  if (label_count > 0) NEREID_CHECK_NOT_NULL(labels);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto pairs, ReadLabels(labels, label_count));
    NEREID_ASSIGN_OR_RETURN(auto made, family->family->NewMetric(
                                           pairs, args == nullptr ? std::nullopt : args->buckets));
    *metric = new TRITONSERVER_Metric{std::move(made)};
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_MetricDelete(TRITONSERVER_Metric* metric) {
  delete metric;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MetricValue(TRITONSERVER_Metric* metric, double* value) {
  NEREID_CHECK_NOT_NULL(metric, value);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(*value, metric->metric->Value());
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_MetricIncrement(TRITONSERVER_Metric* metric, double value) {
  NEREID_CHECK_NOT_NULL(metric);
  return abi::Guard([&] { return metric->metric->Increment(value); });
}

TRITONSERVER_Error* TRITONSERVER_MetricSet(TRITONSERVER_Metric* metric, double value) {
  NEREID_CHECK_NOT_NULL(metric);
  return abi::Guard([&] { return metric->metric->Set(value); });
}

TRITONSERVER_Error* TRITONSERVER_MetricObserve(TRITONSERVER_Metric* metric, double value) {
  NEREID_CHECK_NOT_NULL(metric);
  return abi::Guard([&] { return metric->metric->Observe(value); });
}

TRITONSERVER_Error* TRITONSERVER_GetMetricKind(TRITONSERVER_Metric* metric,
                                               TRITONSERVER_MetricKind* kind) {
  NEREID_CHECK_NOT_NULL(metric, kind);
  *kind = FromKind(metric->metric->kind());
  return nullptr;
}

}  // extern "C"
