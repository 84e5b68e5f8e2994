// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/by_threads.h"
#include "framework/placement.h"
#include "framework/plan.h"
#include "framework/session.h"
#include "onnxruntime/ort_api.h"

namespace nereid::onnxruntime {

/// How the session of a model is run. Immutable after creation; instances share it.
struct SessionPlan {
  framework::RunPlan run;
  /// The names of the model's outputs in the graph, which may differ from those for clients.
  std::vector<std::string> output_names;
};

/// Where the tensors of a session are: in host memory or in the memory of its GPU.
struct TensorMemory {
  /// -1 for a session on the CPU.
  int gpu = -1;
  Owned<OrtMemoryInfo> host;
  /// Null for a session on the CPU.
  Owned<OrtMemoryInfo> device;

  /// Sets all members.
  static Error Make(framework::Placement placement, TensorMemory* memory);
};

/// Runs a session of ONNX Runtime for one instance. On a GPU, tensors in host memory are copied by
/// ONNX Runtime.
class OnnxSession final : public framework::Session {
 public:
  OnnxSession(std::shared_ptr<const SessionPlan> plan, std::shared_ptr<OrtSession> session,
              Owned<OrtRunOptions> run_options, TensorMemory memory);

  int gpu() const override { return memory_.gpu; }

  /// Lets SetThreads choose among the sessions of a model on the CPU.
  void ChooseFrom(std::shared_ptr<const framework::ByThreads<OrtSession>> sessions) {
    sessions_ = std::move(sessions);
  }
  void SetThreads(uint32_t threads) noexcept override;

  Error Run(std::span<const framework::InputTensor> inputs, std::span<const size_t> outputs,
            std::span<framework::OutputTensor> results) override;

 private:
  /// An input or output of the plan, as the C API takes it.
  struct Port {
    const char* name;
    ONNXTensorElementDataType type;
  };

  Error Feed(std::span<const framework::InputTensor> inputs);
  Error FeedTexts(const framework::InputTensor& input, Owned<OrtValue>* value) const;
  Error Wrap(const char* data, int gpu, uint64_t size, std::span<const int64_t> shape,
             ONNXTensorElementDataType type, Owned<OrtValue>* value) const;
  Error Offer(std::span<const size_t> outputs, std::span<const framework::OutputTensor> results);
  Error Compute();
  Error ComputeBound(std::span<const framework::OutputTensor> results);
  Error Bind(std::span<const framework::OutputTensor> results);
  Error TakeBound();
  Error FindMemory(const OrtValue& value, framework::OutputTensor* result) const;
  Error Read(size_t output, Owned<OrtValue> value, framework::OutputTensor* result) const;
  static Error ReadTexts(const OrtValue& value, size_t count, framework::OutputTensor* result);

  const std::shared_ptr<const SessionPlan> plan_;
  std::shared_ptr<OrtSession> session_;
  std::shared_ptr<const framework::ByThreads<OrtSession>>
      sessions_;  // null if the number of threads is fixed
  const Owned<OrtRunOptions> run_options_;
  const TensorMemory memory_;
  /// Made when a result must stay on the GPU.
  Owned<OrtIoBinding> binding_;
  std::vector<Port> inputs_;   // for each input of the plan
  std::vector<Port> outputs_;  // for each output of the plan

  // The arguments of a run; reused.
  std::vector<const char*> input_names_;
  std::vector<const OrtValue*> input_pointers_;
  std::vector<Owned<OrtValue>> input_values_;  // own input_pointers_
  std::vector<const char*> output_names_;
  std::vector<OrtValue*> output_pointers_;
  std::vector<Owned<OrtValue>> output_values_;  // own output_pointers_
};

}  // namespace nereid::onnxruntime
