// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/status.h"
#include "codec/json/request_options.h"
#include "request/inference_request.h"

namespace nereid::codec::json {

/// Reads the body of a KServe v2 inference request: `json`, followed by `binary`, the bytes of the
/// inputs that are given in binary. The inputs of `request`, whose model name must be set, become
/// views of `binary`, which the caller must keep alive with InferenceRequest::Hold. The first of
/// repeated members counts, as in Triton. Errors have Triton's codes and texts.
base::Status DecodeInferRequest(std::string_view json, std::string_view binary,
                                const DecodeLimits& limits, request::InferenceRequest* request,
                                OutputOptions* outputs);

/// Makes a raw binary request, whose body has no JSON: `body` is the tensor of the only input, and
/// all outputs are wanted in binary.
base::Status DecodeRawRequest(std::string_view body, const DecodeLimits& limits,
                              request::InferenceRequest* request, OutputOptions* outputs);

}  // namespace nereid::codec::json
