// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openvino/core/model.hpp>

#include "framework/signature.h"
#include "nereid/backend/model_config.h"

namespace nereid::openvino {

/// Returns the signature of `model`. A tensor with several names gets the one in the configuration,
/// else the alphabetically first. A tensor without a name is called input_N or output_N, where N is
/// its index.
framework::ModelSignature DescribeModel(const ov::Model& model, const backend::ModelConfig& config);

/// Returns whether the first dimension of an input is the batch. It is not for a ragged input and
/// for a target of `batch_input`.
bool HasBatch(const ov::Output<const ov::Node>& input, const backend::ModelConfig& config);

/// Returns whether the layouts of all inputs and outputs begin with the batch ("[N,...]"). By that,
/// the author of the model declares that the first dimension may vary although it has a fixed size.
bool LayoutsHaveBatch(const ov::Model& model);

/// Makes the first dimension of each tensor variable.
void OpenBatch(framework::ModelSignature* signature);

/// Adds each variable of the model (ReadValue, Assign) as an input with a default and as an output,
/// so that `sequence_batching.state` can refer to it by name. They follow the model's own tensors,
/// in the order of ov::Model::get_variables.
void AddVariables(const ov::Model& model, framework::ModelSignature* signature);

}  // namespace nereid::openvino
