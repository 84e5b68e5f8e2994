// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openvino/core/model.hpp>

#include "framework/signature.h"
#include "nereid/backend/model_config.h"

namespace nereid::openvino {

/// What `model` declares. A tensor with several names is called as the configuration calls it, else
/// by the first of them; one without a name is input_N or output_N, with its place.
framework::ModelSignature DescribeModel(const ov::Model& model, const backend::ModelConfig& config);

/// Whether the layouts of all inputs and outputs begin with the batch ("[N,...]"): the model's
/// author says that its first dimension may vary, though it has a size.
bool LayoutsHaveBatch(const ov::Model& model);

/// Makes the first dimensions variable.
void OpenBatch(framework::ModelSignature* signature);

/// Adds each variable of the model (ReadValue, Assign) as an input that has a default, and as an
/// output, both of its name: so `sequence_batching.state` can name it. They come after the model's
/// own tensors, in the order of ov::Model::get_variables.
void AddVariables(const ov::Model& model, framework::ModelSignature* signature);

}  // namespace nereid::openvino
