// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnxruntime/session.h"
#include "onnxruntime/signature.h"

namespace nereid::onnxruntime {

/// How one input of the model is fed.
struct InputPlan {
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  ONNXTensorElementDataType element_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  /// Bytes of an element, which is also the alignment needed to read it in place; 1 for texts.
  size_t element_size = 1;
  /// A request may leave it out: the model has a default.
  bool has_default = false;
  /// The requests' elements are put together into one flat tensor.
  bool ragged = false;
  /// The model wants rank 0; clients send [1].
  bool scalar = false;

  bool text() const { return data_type == TRITONSERVER_TYPE_BYTES; }
};

/// How the size of an output's dimension is known before a run.
struct DimPlan {
  enum class Kind { kFixed, kBatch, kInputDim, kUnknown };
  Kind kind = Kind::kUnknown;
  /// kFixed.
  int64_t size = 0;
  /// kInputDim: the same symbol names a dimension of that input.
  size_t input = 0;
  size_t dim = 0;
};

/// An input that is made for the whole batch (`batch_input`).
struct BatchInputPlan {
  std::string name;
  backend::BatchInputConfig config;
  ONNXTensorElementDataType element_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  /// The place in `inputs` of what it is made from.
  size_t source = 0;
  /// The size that the model gives to the tensor, or -1.
  int64_t room = -1;
};

/// An output that is cut along the shapes of an input (`batch_output`).
struct ScatterPlan {
  /// The place in `inputs`.
  size_t source = 0;
  /// As the configuration says, with -1 in front for the batch.
  std::vector<int64_t> dims;
};

struct OutputPlan {
  std::string name;
  /// The configuration lists it, so that clients may ask for it.
  bool listed = false;
  /// It is the next value of a state.
  bool state = false;
  /// What the graph calls it.
  std::string graph_name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  ONNXTensorElementDataType element_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  std::vector<DimPlan> dims;
  /// The model may write into the response's own buffer: the shape can be known before the run.
  bool direct = false;
  /// Without batching: rank 0 is given as it is, and the server makes [1] of it (an empty reshape).
  bool scalar = false;
  /// Nothing for an output that is cut along the batch dimension.
  std::optional<ScatterPlan> scatter;

  bool text() const { return data_type == TRITONSERVER_TYPE_BYTES; }
};

/// The model and its configuration brought together. Unchanged once made; instances share it.
struct Plan {
  std::string model_name;
  bool batching = false;
  std::vector<InputPlan> inputs;
  std::vector<BatchInputPlan> batch_inputs;
  std::vector<OutputPlan> outputs;

  /// The place in `outputs` of one that clients may ask for, or -1.
  int FindOutput(std::string_view name) const;
};

/// Checks the configuration against the model, with messages that list what the model has.
/// `source` tells what to call it.
Error MakePlan(const ModelConfig& config, const ModelSignature& signature,
               const ModelSource& source, Plan* plan);

}  // namespace nereid::onnxruntime
