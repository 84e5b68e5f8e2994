// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/model_config.h"
#include "request/inference_request.h"

namespace nereid::schedule {

/// Whether two requests may share a batch: inputs with a variable dimension must have equal shapes
/// beyond the batch dimension unless they are ragged, shape tensors must be equal in shape and
/// content, and for models with optional inputs both requests must carry the same inputs.
/// Fixed-size inputs are not compared: normalisation made them equal.
class BatchCompatibility {
 public:
  explicit BatchCompatibility(const config::ModelConfig& config);

  bool MayShareBatch(const request::InferenceRequest& a, const request::InferenceRequest& b) const;

 private:
  struct ComparedInput {
    std::string name;
    bool is_shape_tensor;
  };
  std::vector<ComparedInput> compared_inputs_;
  bool has_optional_inputs_ = false;
};

}  // namespace nereid::schedule
