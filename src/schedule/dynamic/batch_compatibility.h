// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/model_config.h"
#include "request/inference_request.h"

namespace nereid::schedule {

/// Whether two requests may share a batch: inputs with a variable dimension must have equal shapes
/// beyond the batch dimension unless they are ragged, shape tensors must be equal in shape and
/// content, and for models with optional inputs both requests must carry the same inputs.
/// Fixed-size inputs are not compared: normalisation made them equal. The states that the requests
/// have (InferenceRequest::states) count as inputs, with the shapes that the execution begins with.
class BatchCompatibility {
 public:
  explicit BatchCompatibility(const config::ModelConfig& config);

  bool MayShareBatch(const request::InferenceRequest& a, const request::InferenceRequest& b) const;

 private:
  struct ComparedInput {
    std::string name;
    bool is_shape_tensor;
  };
  struct ComparedState {
    size_t index;
    tensor::Shape initial_shape;
  };
  static const tensor::Shape& ShapeOf(const ComparedState& state,
                                      const request::InferenceRequest& request);

  std::vector<ComparedInput> compared_inputs_;
  std::vector<ComparedState> compared_states_;  // those with a variable dimension
  bool has_optional_inputs_ = false;
};

}  // namespace nereid::schedule
