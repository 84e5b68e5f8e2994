// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/session.h"
#include "tensorflow/tf_api.h"

namespace nereid::tensorflow {

/// Creates the TensorFlow tensor of an input. Outputs may share its memory, and what the graph
/// keeps of it (in a variable or a queue) lives as long as the graph needs it. Strings are always
/// copied, other elements only if `copy` is true. Otherwise the input's memory must outlive the
/// tensor and everything that shares it; TensorFlow itself copies memory that is not aligned as it
/// needs.
Error MakeInputTensor(const framework::InputTensor& input, bool copy, TF_Tensor** made);

}  // namespace nereid::tensorflow
