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

/// An input of a run: the concatenated tensors of all requests of the batch, or a tensor that
/// describes the batch (`batch_input`).
struct InputTensor {
  /// False if the requests have omitted it.
  bool present = false;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  std::span<const int64_t> shape;
  /// For types of fixed size; aligned to the element size. The memory belongs to the requests or
  /// the runner and is valid during Run.
  const char* data = nullptr;
  uint64_t size = 0;
  /// For BYTES: the elements.
  std::span<const std::string_view> texts;
  /// Session::gpu() if `data` is in the memory of that GPU, where it is complete; -1 for host
  /// memory.
  int gpu = -1;
};

/// Memory of a response or a state, for a result whose shape is known before the run.
struct OutputPlace {
  /// Null if there is no such memory; otherwise aligned to the element size.
  char* data = nullptr;
  uint64_t size = 0;
  std::span<const int64_t> shape;
  /// Session::gpu() if `data` is in the memory of that GPU; -1 for host memory.
  int gpu = -1;
};

/// An output of a run.
struct OutputTensor {
  /// Set by RunOpen only.
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> shape;
  /// For types of fixed size.
  const char* data = nullptr;
  uint64_t size = 0;
  /// The ordinal of the GPU in whose memory `data` is, where it must be complete; -1 for host
  /// memory.
  int gpu = -1;
  /// For BYTES: the elements.
  std::vector<std::string_view> texts;
  /// Keeps the memory of `data` and `texts` alive.
  std::shared_ptr<const void> owner;
  /// Where the session may write the result. It sets in_place if it has done so, and nothing else.
  /// Has no memory unless FrameworkTraits::writes_in_place is set.
  OutputPlace place;
  bool in_place = false;
  /// Whether the session should leave the result in the memory of its GPU, because a request takes
  /// it there.
  bool wanted_on_gpu = false;

  /// Resets the tensor, but keeps the memory of `shape` and `texts` for reuse.
  void Clear() {
    place = {};
    in_place = false;
    wanted_on_gpu = false;
    gpu = -1;
    name.clear();
    data_type = TRITONSERVER_TYPE_INVALID;
    shape.clear();
    data = nullptr;
    size = 0;
    texts.clear();
    owner.reset();
  }
};

/// A framework's means to run a model. Used by one thread at a time. Two sessions of a model may
/// run at the same time.
class Session {
 public:
  virtual ~Session() = default;

  /// Returns the ordinal of the GPU on which the session computes, or -1 for the CPU. On a GPU,
  /// inputs and places may be in the memory of that GPU, except the inputs that the plan wants in
  /// host memory, and results may be in the memory of any GPU.
  virtual int gpu() const { return -1; }

  /// Sets the number of threads of the following runs on the CPU, for which the model has been
  /// prepared (nereid/backend/cpu_threads.h).
  virtual void SetThreads(uint32_t /*threads*/) noexcept {}

  /// Returns whether a run that has failed may be run again, because a run leaves nothing behind
  /// that the next one sees. Called after a run.
  virtual bool may_repeat() const { return true; }

  /// Runs the model. `inputs` are in the order of RunPlan::inputs. `outputs` are the requested
  /// outputs, as indices of RunPlan::outputs; there is at least one. `results` has one element for
  /// each of them. An exception is treated as an error.
  virtual Error Run(std::span<const InputTensor> inputs, std::span<const size_t> outputs,
                    std::span<OutputTensor> results) = 0;

  /// Runs a model with open outputs (RunPlan::open_outputs) and sets `results` to all of its
  /// outputs.
  virtual Error RunOpen(std::span<const InputTensor> /*inputs*/,
                        std::vector<OutputTensor>* /*results*/) {
    return Error::Unsupported("the configuration lists no outputs");
  }
};

}  // namespace nereid::framework
