// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "framework/signature.h"
#include "onnxruntime/ort_api.h"

namespace nereid::onnxruntime {

/// A graph input or output as the ONNX model declares it. `dims` is empty both for a scalar and for
/// a tensor of undeclared rank, because ONNX Runtime does not distinguish them.
struct TensorSignature : framework::TensorSignature {
  /// The name in the graph. It may differ from the name for clients.
  std::string graph_name;
  ONNXTensorElementDataType element_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  /// The names of variable dimensions; empty for others. Equal names mean equal sizes.
  std::vector<std::string> symbols;
};

struct ModelSignature {
  std::vector<TensorSignature> inputs;
  std::vector<TensorSignature> outputs;
  /// Inputs with a default value, which a run may omit.
  std::vector<TensorSignature> initializers;

  /// Returns the part of the signature that all frameworks have.
  framework::ModelSignature Plain() const {
    return {{inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()}};
  }
};

/// Reads the inputs and outputs of a session's model.
Error ReadSignature(const OrtSession& session, ModelSignature* signature);

TRITONSERVER_DataType DataTypeOf(ONNXTensorElementDataType type);
/// Returns UNDEFINED for TRITONSERVER_TYPE_INVALID.
ONNXTensorElementDataType ElementTypeOf(TRITONSERVER_DataType type);

/// Returns the tensor with this name, or null.
const TensorSignature* FindTensor(const std::vector<TensorSignature>& tensors,
                                  const std::string& name);

using framework::ListText;

}  // namespace nereid::onnxruntime
