// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/signature.h"
#include "nereid/backend/model_config.h"

namespace nereid::framework {

/// The properties of a framework that a plan depends on.
struct FrameworkTraits {
  /// The name of the backend in messages: "ONNX Runtime".
  std::string backend;
  /// The name of a model in messages: "ONNX model".
  std::string model;
  /// Whether a run may omit every input that the configuration calls optional. Otherwise it may
  /// omit those for which the model has a default.
  bool omits_inputs = false;
  /// Whether sessions write results to the memory that they are offered (OutputTensor::place).
  bool writes_in_place = false;
  /// Whether the backend supports ragged inputs, `batch_input` and `batch_output`.
  bool ragged_batches = true;
};

/// An input that the runner builds for each batch (`batch_input`).
struct DerivedInput {
  backend::BatchInputConfig config;
  /// The index in RunPlan::inputs of its source.
  size_t source = 0;
  /// The size that the model declares for the tensor, or -1.
  int64_t room = -1;
};

/// How an input of the model is fed: from the tensor of the same name in the requests, which comes
/// from a client, a control or a state, or from the shapes of another input.
struct PlannedInput {
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  /// The index in the signature's inputs.
  size_t place = 0;
  /// The size of an element in bytes, to which the tensor is aligned; 1 for strings.
  size_t alignment = 1;
  /// Whether a request may omit it.
  bool has_default = false;
  /// Whether the model expects rank 0. Clients of a model without batching send [1].
  bool scalar = false;
  /// Whether it is a shape tensor: it has no batch dimension, and all requests of a batch must send
  /// the same one.
  bool shape_tensor = false;
  /// Whether the session checks the size of the data, because their order in memory is the model's
  /// own.
  bool non_linear = false;
  /// Whether the elements of all requests are concatenated to one flat tensor.
  bool ragged = false;
  /// Whether the session reads its values in host memory, also if it computes on a GPU.
  bool in_host_memory = false;
  /// Present if the tensor is not in the requests.
  std::optional<DerivedInput> derived = std::nullopt;

  bool text() const { return data_type == TRITONSERVER_TYPE_BYTES; }
};

/// How the size of an output's dimension can be determined before a run.
struct PlannedDim {
  enum class Kind { kFixed, kBatch, kInputDim };
  Kind kind = Kind::kFixed;
  /// For kFixed.
  int64_t size = 0;
  /// For kInputDim: the dimension of an input that has the same symbol.
  size_t input = 0;
  size_t dim = 0;
};

/// An output that is divided according to the shapes of an input (`batch_output`).
struct PlannedScatter {
  /// The index in RunPlan::inputs.
  size_t source = 0;
  /// The dims in the configuration, preceded by -1 for the batch if the model batches.
  std::vector<int64_t> dims;
};

struct PlannedOutput {
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  size_t place = 0;
  /// Whether clients may request it.
  bool listed = false;
  /// Whether it is the next value of a state, which is computed for every batch.
  bool state = false;
  /// Whether it is a shape tensor. In a model that batches, the session returns the values for each
  /// batch item.
  bool shape_tensor = false;
  /// Whether the configuration gives it an empty reshape: a result has no dimensions but the batch.
  /// Without batching, a result of rank 0 is passed on, and the server reshapes it to [1].
  bool scalar = false;
  /// The dimensions, if all can be determined before the run, so that the session may write the
  /// result in place; otherwise empty.
  std::vector<PlannedDim> dims = {};
  /// Absent for an output that is divided along the batch dimension.
  std::optional<PlannedScatter> scatter = std::nullopt;

  bool text() const { return data_type == TRITONSERVER_TYPE_BYTES; }
};

/// A model with its checked configuration. Immutable after creation; instances share it.
struct RunPlan {
  std::string model_name;
  bool batching = false;
  std::vector<PlannedInput> inputs;
  std::vector<PlannedOutput> outputs;
  /// Whether the tensors of a batch are used in place where they follow each other in memory.
  bool coalesces_inputs = false;
  /// Whether the configuration lists no outputs, so that each run determines them
  /// (Session::RunOpen). `outputs` is empty then.
  bool open_outputs = false;

  /// Returns the index in `outputs` of an output that clients may request, or -1.
  int FindListed(std::string_view name) const;
};

/// Returns UNSUPPORTED for an instance on a GPU.
Error RequireCpu(TRITONBACKEND_ModelInstance* instance, const backend::ModelConfig& config,
                 const std::string& framework);

/// Checks that the model has every input in the configuration. MakePlan checks this too, but
/// compares the number of inputs first, and that error does not contain the name.
Error CheckInputNames(const backend::ModelConfig& config, const ModelSignature& signature);

/// Checks the configuration against the model's signature and creates the plan. Messages describe
/// the model's tensors.
Error MakePlan(const backend::ModelConfig& config, const ModelSignature& signature,
               const FrameworkTraits& traits, RunPlan* plan);

}  // namespace nereid::framework
