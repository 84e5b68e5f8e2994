// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/status.h"
#include "codec/proto/infer_request_view.h"
#include "request/classify.h"
#include "request/inference_request.h"

namespace nereid::codec::proto {

/// What a request asks of its front end, not of the model.
struct InferWishes {
  /// Streams: answer a final flag without a response by an empty response.
  bool empty_final_response = false;
  /// Outputs of which classes are wanted.
  std::vector<request::ClassificationWish> classifications = {};
};

/// Fills `request` from a parsed message: names, parameters, inputs, data, requested outputs; not
/// the model's version. Raw contents become views into the message: the caller keeps it alive with
/// InferenceRequest::Hold. Typed contents are converted into buffers that the request holds.
/// Failures carry Triton's codes and texts.
base::Status FillInferRequest(const InferRequestView& view, request::InferenceRequest* request,
                              InferWishes* wishes);

}  // namespace nereid::codec::proto
