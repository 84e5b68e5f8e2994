// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <openvino/runtime/infer_request.hpp>
#include <string>
#include <vector>

#include "framework/plan.h"
#include "framework/session.h"

namespace nereid::openvino {

/// How a compiled model is run. Immutable after creation.
struct SessionPlan {
  framework::RunPlan run;
  /// The numbers of inputs and outputs of the compiled model. Higher indices in `run` are
  /// variables.
  size_t input_count = 0;
  size_t output_count = 0;
  /// The names of the model's variables.
  std::vector<std::string> variables;
  /// If not 0, the number of rows of each run. pad_batch tells whether smaller batches are padded
  /// with zeros.
  int64_t fixed_batch = 0;
  bool pad_batch = false;
};

/// Creates a session that runs a compiled model for one instance. Variables do not keep values
/// between runs: each run begins with the state that the server keeps, or with the initial values.
std::unique_ptr<framework::Session> MakeSession(std::shared_ptr<const SessionPlan> plan,
                                                ov::InferRequest request);

}  // namespace nereid::openvino
