// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nereid/backend/aligned_buffer.h"
#include "nereid/backend/batch.h"
#include "nereid/backend/batch_output.h"
#include "nereid/backend/input.h"
#include "onnxruntime/plan.h"

namespace nereid::onnxruntime {

using backend::AlignedBuffer;
using backend::Batch;
using backend::BatchMember;
using backend::Input;

/// Executes batches on a session for one instance. Not thread-safe. All buffers are reused by later
/// runs.
///
/// The requests of a batch run together. If that fails, each runs alone, so that a bad request does
/// not affect the others. The inputs of a single request are read in place, and outputs whose
/// shapes are known before the run are written in place.
class Runner {
 public:
  Runner(std::shared_ptr<const Plan> plan, std::shared_ptr<OrtSession> session,
         Owned<OrtRunOptions> run_options, Owned<OrtMemoryInfo> memory);

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count);

 private:
  /// The requests that run together.
  struct Group {
    std::span<const size_t> members;
    int64_t batch_size = 0;
  };

  // Preparing a request.
  Error Prepare(size_t index, BatchMember* member);
  Error PrepareInput(const InputPlan& plan, Input* input, BatchMember* member, bool* sized);

  // Running requests.
  Error RunGroup(Batch* batch, std::span<const size_t> members);
  Error RunOnce(Batch* batch, const Group& group, bool direct);
  Error BindInputs(const Group& group);
  Error BindInput(const Group& group, size_t index);
  Error BindText(const InputPlan& plan, std::span<const Input> inputs, const char* data,
                 Owned<OrtValue>* value);
  Error InputShape(const InputPlan& plan, std::span<const Input> inputs);
  Error BindBatchInput(const Group& group, size_t index);
  Error ReadSources(const Group& group, size_t input);
  Error WrapInput(const char* data, size_t size, ONNXTensorElementDataType type,
                  Owned<OrtValue>* value);
  void AddInput(const std::string& name, Owned<OrtValue> value);
  Error BindOutputs(Batch* batch, const Group& group, bool direct);
  Error BindDirect(BatchMember* member, const OutputPlan& plan, Owned<OrtValue>* value);
  Error AllocateDirect(BatchMember* member, const OutputPlan& plan, size_t size, char** buffer);
  bool DirectShape(const Group& group, const OutputPlan& plan);

  // Distributing the results.
  Error ReadShape(const OutputPlan& plan, const OrtValue& value);
  Error CutOutput(Batch* batch, const Group& group, size_t output);
  Error Scatter(Batch* batch, const Group& group);
  Error ScatterOutput(Batch* batch, const Group& group, size_t output);
  Error CompleteState(Batch* batch, size_t member, size_t output);
  Error ScatterNumbers(Batch* batch, const Group& group, size_t output);
  Error ScatterTexts(Batch* batch, const Group& group, size_t output);

  const Input& InputOf(size_t member, size_t input) const {
    return inputs_[member * plan_->inputs.size() + input];
  }
  bool Wants(size_t member, size_t output) const {
    return wanted_[member * plan_->outputs.size() + output] != 0;
  }

  const std::shared_ptr<const Plan> plan_;
  const std::shared_ptr<OrtSession> session_;
  const Owned<OrtRunOptions> run_options_;
  const Owned<OrtMemoryInfo> memory_;
  /// False after the model has returned a shape that it does not declare.
  bool direct_ = true;

  // For the batch: requests × inputs (with a null handle if absent), requests × outputs.
  std::vector<BatchMember> members_;
  std::vector<Input> inputs_;
  std::vector<uint8_t> wanted_;
  std::vector<size_t> runnable_;

  // For the run, in the order of ONNX Runtime's arguments.
  std::vector<const char*> input_names_;
  std::vector<Owned<OrtValue>> input_values_;
  std::vector<const OrtValue*> input_pointers_;
  std::vector<size_t> output_plans_;
  /// The buffer of a response or state that was allocated before the run, or null. output_direct_
  /// tells whether the model writes to it itself; otherwise the result is copied.
  std::vector<std::span<char>> output_buffers_;
  std::vector<uint8_t> output_direct_;
  /// Set if that buffer is the next value of a state.
  std::vector<TRITONBACKEND_State*> output_states_;
  std::vector<const char*> output_names_;
  std::vector<Owned<OrtValue>> output_values_;
  std::vector<OrtValue*> output_pointers_;

  /// The parts of each output that the model did not write in place.
  std::vector<std::vector<backend::OutputPart>> parts_;

  // Scratch memory.
  std::vector<Input> same_input_;
  std::vector<std::span<const int64_t>> sources_;
  std::vector<int64_t> batch_sizes_;
  std::vector<int64_t> shape_;
  std::vector<AlignedBuffer> gathered_;
  std::vector<AlignedBuffer> described_;
  std::vector<size_t> offsets_;
  AlignedBuffer texts_;
};

}  // namespace nereid::onnxruntime
