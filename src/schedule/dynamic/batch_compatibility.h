// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/model_config.h"
#include "request/inference_request.h"

namespace nereid::schedule {

/// Decides whether two requests may share a batch. Inputs with a variable dimension must have equal
/// shapes beyond the batch dimension, unless they are ragged. Shape tensors must be equal in shape
/// and content. For models with optional inputs both requests must carry the same inputs. Inputs of
/// fixed size are not compared: normalization has checked them. States of sequences
/// (InferenceRequest::states) are compared like inputs, with the shapes that the execution begins
/// with.
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
