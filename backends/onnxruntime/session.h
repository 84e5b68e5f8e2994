// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

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

/// Runs a session of ONNX Runtime for one instance.
class OnnxSession final : public framework::Session {
 public:
  OnnxSession(std::shared_ptr<const SessionPlan> plan, std::shared_ptr<OrtSession> session,
              Owned<OrtRunOptions> run_options, Owned<OrtMemoryInfo> memory);

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
  Error Wrap(const char* data, uint64_t size, std::span<const int64_t> shape,
             ONNXTensorElementDataType type, Owned<OrtValue>* value) const;
  Error Offer(std::span<const size_t> outputs, std::span<const framework::OutputTensor> results);
  Error Compute();
  Error Read(size_t output, Owned<OrtValue> value, framework::OutputTensor* result) const;
  static Error ReadTexts(const OrtValue& value, size_t count, framework::OutputTensor* result);

  const std::shared_ptr<const SessionPlan> plan_;
  const std::shared_ptr<OrtSession> session_;
  const Owned<OrtRunOptions> run_options_;
  const Owned<OrtMemoryInfo> memory_;
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
