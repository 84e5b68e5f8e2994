// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/signature.h"

namespace nereid::framework {

/// One input of a run: the tensors of all requests of the batch, one after the other.
struct InputTensor {
  /// False where the requests left it out.
  bool present = false;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  std::span<const int64_t> shape;
  /// Types of fixed size: aligned to the element. Belongs to the requests or to the runner, and is
  /// valid during Run.
  const char* data = nullptr;
  uint64_t size = 0;
  /// BYTES: the elements.
  std::span<const std::string_view> texts;
};

/// One output of a run.
struct OutputTensor {
  /// Set by RunOpen only.
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> shape;
  /// Types of fixed size.
  const char* data = nullptr;
  uint64_t size = 0;
  /// BYTES: the elements.
  std::vector<std::string_view> texts;
  /// Keeps what the tensor points to.
  std::shared_ptr<const void> owner;
};

/// A framework that can run a model. Used by one thread at a time; two sessions of one model may
/// run at the same time.
class Session {
 public:
  virtual ~Session() = default;

  /// Runs the model. `inputs` are in the order of RunPlan::inputs; `outputs` names the wanted ones
  /// by their place in RunPlan::outputs, and is not empty; `results` has room for one each. An
  /// exception counts as a failure.
  virtual Error Run(std::span<const InputTensor> inputs, std::span<const size_t> outputs,
                    std::span<OutputTensor> results) = 0;

  /// Runs a model of open outputs (RunPlan::open_outputs): sets `results` to all that it gave.
  virtual Error RunOpen(std::span<const InputTensor> /*inputs*/,
                        std::vector<OutputTensor>* /*results*/) {
    return Error::Unsupported("the configuration lists no outputs");
  }
};

}  // namespace nereid::framework
