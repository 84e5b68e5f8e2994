// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_index.h"
#include "base/status.h"
#include "request/classify.h"
#include "request/inference_request.h"

namespace nereid::codec::json {

/// How the client wants the outputs of one request.
class OutputOptions {
 public:
  /// Whether an output goes into the binary part of the answer: what its own binary_data says, else
  /// the request's binary_data_output.
  bool IsBinary(std::string_view output) const;

  void Clear();
  void set_all_binary(bool binary) { all_binary_ = binary; }
  /// For an output that is set again the last value counts.
  void SetBinary(std::string_view output, bool binary);

  /// The outputs of which classes are wanted; with a count of 0 the tensor itself is.
  const std::vector<request::ClassificationWish>& classifications() const {
    return classifications_;
  }
  void SetClassification(std::string_view output, uint64_t count);

 private:
  struct Choice {
    std::string output;
    bool binary;
  };
  std::vector<Choice> choices_;
  base::NameIndex choice_names_;
  std::vector<request::ClassificationWish> classifications_;
  base::NameIndex classification_names_;
  bool all_binary_ = false;
};

struct DecodeLimits {
  /// Bytes of the JSON part, and of each input given as JSON (--http-max-input-size).
  uint64_t max_json_size = 67'108'864;
  /// Inputs, and outputs, of one request; no model has so many.
  size_t max_tensors = 4096;
  /// Parameters of one request that the protocol does not know itself.
  size_t max_parameters = 4096;
  /// Dimensions of one input.
  size_t max_dimensions = 256;
};

/// Reads the body of a KServe v2 inference request: `json`, followed by the bytes of the inputs
/// that are given in binary. The inputs of `request` (which has its model name already) then view
/// `binary`: the caller has the request hold it. Of members that are repeated the first counts, as
/// in Triton. Failures have Triton's codes and texts.
base::Status DecodeInferRequest(std::string_view json, std::string_view binary,
                                const DecodeLimits& limits, request::InferenceRequest* request,
                                OutputOptions* outputs);

/// Makes a raw binary request (a body without any JSON): `body` is the one input's tensor, and all
/// outputs are wanted in binary.
base::Status DecodeRawRequest(std::string_view body, const DecodeLimits& limits,
                              request::InferenceRequest* request, OutputOptions* outputs);

}  // namespace nereid::codec::json
