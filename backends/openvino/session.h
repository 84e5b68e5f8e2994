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

/// How a compiled model is run. Unchanged once made.
struct SessionPlan {
  framework::RunPlan run;
  /// Tensors of the compiled model. Places of `run` from these on are variables.
  size_t input_count = 0;
  size_t output_count = 0;
  /// The names of the model's variables.
  std::vector<std::string> variables;
  /// Not 0: the rows that each run has, and whether zeros fill up smaller batches.
  int64_t fixed_batch = 0;
  bool pad_batch = false;
};

/// Runs a compiled model for one instance. No run sees what an earlier one left in a variable: it
/// begins with the state that the server keeps for it, or with its initial value.
std::unique_ptr<framework::Session> MakeSession(std::shared_ptr<const SessionPlan> plan,
                                                ov::InferRequest request);

}  // namespace nereid::openvino
