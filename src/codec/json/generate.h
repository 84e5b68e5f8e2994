// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/metadata.h"
#include "base/status.h"
#include "codec/json/infer_request.h"
#include "codec/json/split_characters.h"
#include "codec/json/text_buffer.h"
#include "request/inference_request.h"
#include "request/inference_response.h"

namespace nereid::codec::json {

/// Reads the body of a request of the generate extension: an object whose members are inputs of the
/// model (a scalar, or a list in row-major order), "id", "parameters" (an object of the same kind),
/// or parameters for the backend. `inputs` come from the model's metadata. All values are copied,
/// so `json` need not outlive the call. Errors have Triton's codes and texts.
base::Status DecodeGenerateRequest(std::string_view json,
                                   std::span<const api::TensorMetadata> inputs,
                                   const DecodeLimits& limits, request::InferenceRequest* request);

/// Appends the response as an object: each output as a scalar (one element) or a flat list, the
/// response's parameters, "id" if there is one, "model_name" and "model_version", sorted by name.
/// If names are equal, the reserved member is kept, then the parameter.
base::Status EncodeGenerateResponse(const request::InferenceResponse& response, TextBuffer* json);

/// The responses of one streamed request. Joins the characters that they divide. Not thread-safe.
class GenerateStream {
 public:
  /// Appends a response like EncodeGenerateResponse(). `final`: no other one follows.
  base::Status Encode(const request::InferenceResponse& response, bool final, TextBuffer* json);

  /// For a request that ends without a further response: appends an object with the characters that
  /// stay incomplete, as U+FFFD. Appends nothing if there are none.
  void EncodeRest(TextBuffer* json);

 private:
  SplitCharacters split_;
  // Of the last response, if bytes of split_ wait.
  std::string id_;
  std::string model_name_;
  std::string model_version_;
};

}  // namespace nereid::codec::json
