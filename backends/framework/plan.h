// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/signature.h"
#include "nereid/backend/model_config.h"

namespace nereid::framework {

/// How an input of the model is fed from the tensor of the same name in the requests, which comes
/// from a client, a control or a state.
struct PlannedInput {
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  /// The index in the signature's inputs.
  size_t place = 0;
  /// Whether a request may omit it.
  bool has_default = false;
  /// Whether the model expects rank 0. Clients of a model without batching send [1].
  bool scalar = false;
  /// Whether it is a shape tensor: it has no batch dimension, and all requests of a batch must send
  /// the same one.
  bool shape_tensor = false;

  bool text() const { return data_type == TRITONSERVER_TYPE_BYTES; }
};

struct PlannedOutput {
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  size_t place = 0;
  /// Whether clients may request it.
  bool listed = false;
  /// Whether it is the next value of a state, which is computed for every batch.
  bool state = false;
  /// Whether it is a shape tensor: it has no batch dimension, and every request receives the same
  /// one.
  bool shape_tensor = false;

  bool text() const { return data_type == TRITONSERVER_TYPE_BYTES; }
};

/// A model with its checked configuration. Immutable after creation; instances share it.
struct RunPlan {
  std::string model_name;
  bool batching = false;
  std::vector<PlannedInput> inputs;
  std::vector<PlannedOutput> outputs;
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
/// the model's tensors. `framework` ("TensorFlow") is the name in messages.
Error MakePlan(const backend::ModelConfig& config, const ModelSignature& signature,
               const std::string& framework, RunPlan* plan);

}  // namespace nereid::framework
