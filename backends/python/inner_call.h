// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "python/segment_uses.h"
#include "python/worker.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

class InnerCalls;

/// A request that a model has sent to another model.
struct InnerCall {
  InnerCalls* owner = nullptr;
  std::shared_ptr<Worker> worker;
  /// The worker's number of the call.
  uint64_t id = 0;
  /// Owned. Deleted with the object, after the server has released it.
  TRITONSERVER_InferenceRequest* request = nullptr;
  /// The content of the inputs: the worker cannot change it while the called model reads it.
  std::vector<std::vector<char>> inputs;
  /// The inputs in GPU memory, which the worker does not use again before the end of the call.
  std::vector<TensorContent> gpu_inputs;
  /// Where the worker wants the outputs (WireInfer::memory).
  uint16_t memory = 0;
  /// Whether the worker wants no further response.
  std::atomic<bool> closed{false};

  InnerCall() = default;
  InnerCall(const InnerCall&) = delete;
  InnerCall& operator=(const InnerCall&) = delete;
  ~InnerCall();
};

}  // namespace nereid::python
