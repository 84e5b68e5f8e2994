// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "framework/signature.h"
#include "onnxruntime/ort_api.h"

namespace nereid::onnxruntime {

/// Reads the inputs and outputs of a session's model, and the inputs with a default value
/// (`initializers`). Names, types and the names of variable dimensions are those of the graph.
Error ReadSignature(const OrtSession& session, framework::ModelSignature* signature,
                    std::vector<framework::TensorSignature>* initializers);

TRITONSERVER_DataType DataTypeOf(ONNXTensorElementDataType type);
/// Returns UNDEFINED for TRITONSERVER_TYPE_INVALID.
ONNXTensorElementDataType ElementTypeOf(TRITONSERVER_DataType type);

}  // namespace nereid::onnxruntime
