// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/status.h"
#include "codec/proto/infer_request_view.h"
#include "request/classify.h"
#include "request/inference_request.h"

namespace nereid::codec::proto {

/// Options of a request that are for the front end, not for the model.
struct ResponseOptions {
  /// For streams: send an empty response for a final flag without a response.
  bool empty_final_response = false;
  /// Outputs of which classes are wanted.
  std::vector<request::RequestedClasses> classifications = {};
};

/// Sets names, parameters, inputs, data and requested outputs of `request` from a parsed message,
/// but not the model version. Raw contents become views of the message, which the caller must keep
/// alive with InferenceRequest::Hold. Typed contents are converted into buffers that the request
/// holds. Errors have Triton's codes and texts.
base::Status FillInferRequest(const InferRequestView& view, request::InferenceRequest* request,
                              ResponseOptions* options);

}  // namespace nereid::codec::proto
