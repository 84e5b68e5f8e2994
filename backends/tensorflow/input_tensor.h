// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/session.h"
#include "tensorflow/tf_api.h"

namespace nereid::tensorflow {

/// Makes TensorFlow's tensor of an input. Outputs may share its memory, and what the graph keeps of
/// it (in a variable, in a queue) lives as long as the graph wants: texts are always copied, other
/// elements only if `copy` says so. Without it they must live until the tensor and all that shares
/// it are gone; TensorFlow itself copies what is not aligned to its liking.
Error MakeInputTensor(const framework::InputTensor& input, bool copy, TF_Tensor** made);

}  // namespace nereid::tensorflow
