// SPDX-License-Identifier: Apache-2.0
#include "identity/custom_trace.h"

#include <string>
#include <thread>

#include "nereid/backend/batch.h"

namespace nereid::identity {
namespace {

/// Limits the time that the instance is busy with this to a minute.
constexpr int64_t kMaxNested = 600;

}  // namespace

Error CustomTrace::Read(const backend::Parameters& parameters) {
  NEREID_BACKEND_TRY(parameters.ReadBool("enable_custom_tracing", &enabled));
  NEREID_BACKEND_TRY(parameters.ReadInt("nested_span_count", 0, kMaxNested, &nested));
  return parameters.ReadInt("single_activity_frequency", 1, INT32_MAX, &single_every);
}

Error CustomTrace::Report(TRITONBACKEND_Request* request) const {
  TRITONSERVER_InferenceTrace* trace = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_RequestTrace(request, &trace));
  if (trace == nullptr) {
    return {};
  }
  const auto report = [&](const std::string& name) {
    return Error(TRITONSERVER_InferenceTraceReportActivity(trace, backend::NowNs(), name.c_str()));
  };
  NEREID_BACKEND_TRY(report("CUSTOM_ACTIVITY_START"));
  std::this_thread::sleep_for(length);
  NEREID_BACKEND_TRY(report("CUSTOM_ACTIVITY_END"));
  NEREID_BACKEND_TRY(report("CUSTOM_SINGLE_ACTIVITY"));
  for (int64_t i = 0; i < nested; ++i) {
    NEREID_BACKEND_TRY(report("CUSTOM_ACTIVITY" + std::to_string(i) + "_START"));
    std::this_thread::sleep_for(length);
    if (i % single_every == 0) {
      NEREID_BACKEND_TRY(report("CUSTOM_SINGLE_ACTIVITY"));
    }
  }
  for (int64_t i = nested; i > 0; --i) {
    NEREID_BACKEND_TRY(report("CUSTOM_ACTIVITY" + std::to_string(i - 1) + "_END"));
  }
  return {};
}

}  // namespace nereid::identity
