// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "framework/signature.h"
#include "onnxruntime/ort_api.h"

namespace nereid::onnxruntime {

/// A graph input or output as the ONNX model declares it. `dims` is empty for a scalar and for a
/// tensor of undeclared rank: ONNX Runtime does not tell these apart.
struct TensorSignature : framework::TensorSignature {
  /// What the graph calls it, where that differs from what clients know.
  std::string graph_name;
  ONNXTensorElementDataType element_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  /// The names of variable dimensions, "" elsewhere. Equal names promise equal sizes.
  std::vector<std::string> symbols;
};

struct ModelSignature {
  std::vector<TensorSignature> inputs;
  std::vector<TensorSignature> outputs;
  /// Inputs with a default value: a run may leave them out.
  std::vector<TensorSignature> initializers;

  /// What every framework's models have of it.
  framework::ModelSignature Plain() const {
    return {{inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()}};
  }
};

/// Reads what a session's model takes and gives.
Error ReadSignature(const OrtSession& session, ModelSignature* signature);

TRITONSERVER_DataType DataTypeOf(ONNXTensorElementDataType type);
/// UNDEFINED for TRITONSERVER_TYPE_INVALID.
ONNXTensorElementDataType ElementTypeOf(TRITONSERVER_DataType type);

/// Null where there is none of that name.
const TensorSignature* FindTensor(const std::vector<TensorSignature>& tensors,
                                  const std::string& name);

using framework::ListText;

}  // namespace nereid::onnxruntime
