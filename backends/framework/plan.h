// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/signature.h"
#include "nereid/backend/model_config.h"

namespace nereid::framework {

/// How one input of the model is fed: from the requests' tensor of that name, which a client, a
/// control or a state brings.
struct PlannedInput {
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  /// The place in the signature's inputs.
  size_t place = 0;
  /// A request may leave it out.
  bool has_default = false;
  /// The model wants rank 0; clients of a model without batching send [1].
  bool scalar = false;
  /// One tensor without a batch dimension for the whole batch, whose requests have the same.
  bool shape_tensor = false;

  bool text() const { return data_type == TRITONSERVER_TYPE_BYTES; }
};

struct PlannedOutput {
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  size_t place = 0;
  /// Clients may ask for it.
  bool listed = false;
  /// It is the next value of a state: computed for every batch.
  bool state = false;
  /// One tensor without a batch dimension, which every request of the batch gets.
  bool shape_tensor = false;

  bool text() const { return data_type == TRITONSERVER_TYPE_BYTES; }
};

/// The model and its configuration brought together. Unchanged once made; instances share it.
struct RunPlan {
  std::string model_name;
  bool batching = false;
  std::vector<PlannedInput> inputs;
  std::vector<PlannedOutput> outputs;
  /// The configuration lists no outputs: each run says what it has (Session::RunOpen). `outputs` is
  /// empty then.
  bool open_outputs = false;

  /// The place in `outputs` of one that clients may ask for, or -1.
  int FindListed(std::string_view name) const;
};

/// UNSUPPORTED for an instance on a GPU.
Error RequireCpu(TRITONBACKEND_ModelInstance* instance, const backend::ModelConfig& config,
                 const std::string& framework);

/// Checks that the model has every input that the configuration lists; MakePlan does as well, but
/// compares the numbers first, which may hide the name.
Error CheckInputNames(const backend::ModelConfig& config, const ModelSignature& signature);

/// Checks the configuration against what the model declares; the messages say what the model has.
/// `framework` ("TensorFlow") names the backend in them.
Error MakePlan(const backend::ModelConfig& config, const ModelSignature& signature,
               const std::string& framework, RunPlan* plan);

}  // namespace nereid::framework
