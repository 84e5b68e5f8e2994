// SPDX-License-Identifier: Apache-2.0
#include "tracing/request_trace.h"

namespace nereid::tracing {

std::string_view ActivityName(request::TraceActivity activity) {
  using request::TraceActivity;
  switch (activity) {
    case TraceActivity::kRequestStart:
      return "REQUEST_START";
    case TraceActivity::kQueueStart:
      return "QUEUE_START";
    case TraceActivity::kComputeStart:
      return "COMPUTE_START";
    case TraceActivity::kComputeInputEnd:
      return "COMPUTE_INPUT_END";
    case TraceActivity::kComputeOutputStart:
      return "COMPUTE_OUTPUT_START";
    case TraceActivity::kComputeEnd:
      return "COMPUTE_END";
    case TraceActivity::kRequestEnd:
      return "REQUEST_END";
    case TraceActivity::kTensorQueueInput:
      return "TENSOR_QUEUE_INPUT";
    case TraceActivity::kTensorBackendInput:
      return "TENSOR_BACKEND_INPUT";
    case TraceActivity::kTensorBackendOutput:
      return "TENSOR_BACKEND_OUTPUT";
    case TraceActivity::kCustom:
      break;
  }
  return "CUSTOM_ACTIVITY";
}

}  // namespace nereid::tracing
