// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnxruntime/session.h"
#include "onnxruntime/signature.h"

namespace nereid::onnxruntime {

/// How an input of the model is fed.
struct InputPlan {
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  ONNXTensorElementDataType element_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  /// The size of an element in bytes, which is also the alignment for reading it in place; 1 for
  /// strings.
  size_t element_size = 1;
  /// Whether a request may omit the input, because the model has a default.
  bool has_default = false;
  /// Whether the elements of all requests are concatenated to one flat tensor.
  bool ragged = false;
  /// Whether the model expects rank 0. Clients send [1].
  bool scalar = false;

  bool text() const { return data_type == TRITONSERVER_TYPE_BYTES; }
};

/// How the size of an output's dimension can be determined before a run.
struct DimPlan {
  enum class Kind { kFixed, kBatch, kInputDim, kUnknown };
  Kind kind = Kind::kUnknown;
  /// For kFixed.
  int64_t size = 0;
  /// For kInputDim: the dimension of an input that has the same symbol.
  size_t input = 0;
  size_t dim = 0;
};

/// An input that the backend builds for the whole batch (`batch_input`).
struct BatchInputPlan {
  std::string name;
  backend::BatchInputConfig config;
  ONNXTensorElementDataType element_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  /// The index in `inputs` of its source.
  size_t source = 0;
  /// The size that the model declares for the tensor, or -1.
  int64_t room = -1;
};

/// An output that is divided according to the shapes of an input (`batch_output`).
struct ScatterPlan {
  /// The index in `inputs`.
  size_t source = 0;
  /// The dims in the configuration, preceded by -1 for the batch if the model batches.
  std::vector<int64_t> dims;
};

struct OutputPlan {
  std::string name;
  /// Whether the configuration lists it, so that clients may request it.
  bool listed = false;
  /// Whether it is the next value of a state.
  bool state = false;
  /// The name in the graph.
  std::string graph_name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  ONNXTensorElementDataType element_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  std::vector<DimPlan> dims;
  /// Whether the model may write to the response's buffer, because the shape can be determined
  /// before the run.
  bool direct = false;
  /// For models without batching: results of rank 0 are passed on unchanged, and the server
  /// reshapes them to [1] (an empty reshape).
  bool scalar = false;
  /// Absent for an output that is divided along the batch dimension.
  std::optional<ScatterPlan> scatter;

  bool text() const { return data_type == TRITONSERVER_TYPE_BYTES; }
};

/// A model with its checked configuration. Immutable after creation; instances share it.
struct Plan {
  std::string model_name;
  bool batching = false;
  std::vector<InputPlan> inputs;
  std::vector<BatchInputPlan> batch_inputs;
  std::vector<OutputPlan> outputs;

  /// Returns the index in `outputs` of an output that clients may request, or -1.
  int FindOutput(std::string_view name) const;
};

/// Checks the configuration against the model and creates the plan. Messages describe the model's
/// tensors and use the names in `source`.
Error MakePlan(const ModelConfig& config, const ModelSignature& signature,
               const ModelSource& source, Plan* plan);

}  // namespace nereid::onnxruntime
