// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "onnxruntime/ort_api.h"

namespace nereid::onnxruntime {

/// A graph input or output as the ONNX model declares it.
struct TensorSignature {
  std::string name;
  /// What the graph calls it, where that differs from what clients know.
  std::string graph_name;
  /// False for sequences, maps and the like, which the inference protocol cannot carry.
  bool is_tensor = false;
  ONNXTensorElementDataType element_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  /// INVALID where the protocol has no such type.
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  /// -1 is variable. Empty for a scalar and for a tensor of undeclared rank: ONNX Runtime does not
  /// tell these apart.
  std::vector<int64_t> dims;
  /// The names of variable dimensions, "" elsewhere. Equal names promise equal sizes.
  std::vector<std::string> symbols;

  /// "FP32 [-1,64]"
  std::string Text() const;
};

struct ModelSignature {
  std::vector<TensorSignature> inputs;
  std::vector<TensorSignature> outputs;
  /// Inputs with a default value: a run may leave them out.
  std::vector<TensorSignature> initializers;
};

/// Reads what a session's model takes and gives.
Error ReadSignature(const OrtSession& session, ModelSignature* signature);

TRITONSERVER_DataType DataTypeOf(ONNXTensorElementDataType type);
/// UNDEFINED for TRITONSERVER_TYPE_INVALID.
ONNXTensorElementDataType ElementTypeOf(TRITONSERVER_DataType type);

/// Null where there is none of that name.
const TensorSignature* FindTensor(const std::vector<TensorSignature>& tensors,
                                  const std::string& name);

/// "x (FP32 [-1,64]), y (INT64 [-1])"
std::string ListText(const std::vector<TensorSignature>& tensors);

}  // namespace nereid::onnxruntime
