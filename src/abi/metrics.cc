// SPDX-License-Identifier: Apache-2.0
#include "abi/metrics.h"

#include "abi/error.h"

using namespace nereid;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_MetricsDelete(TRITONSERVER_Metrics* metrics) {
  delete metrics;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MetricsFormatted(TRITONSERVER_Metrics* metrics,
                                                  TRITONSERVER_MetricFormat format,
                                                  const char** base, size_t* byte_size) {
  NEREID_CHECK_NOT_NULL(metrics, base, byte_size);
  if (format != TRITONSERVER_METRIC_PROMETHEUS) {
    return abi::Guard([&] {
      return base::Status::InvalidArgument("unknown metrics format '" +
                                           std::to_string(static_cast<int>(format)) + "'");
    });
  }
  *base = metrics->text.c_str();
  *byte_size = metrics->text.size();
  return nullptr;
}

}  // extern "C"
