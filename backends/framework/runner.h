// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "framework/plan.h"
#include "framework/session.h"
#include "nereid/backend/aligned_buffer.h"
#include "nereid/backend/batch.h"
#include "nereid/backend/batch_output.h"
#include "nereid/backend/input.h"

namespace nereid::framework {

/// Executes batches for one instance: collects the tensors of the requests, runs the session, and
/// divides the results. If a batch fails, its requests run one by one, so that only the bad one
/// gets an error. Not thread-safe.
class Runner {
 public:
  Runner(std::shared_ptr<const RunPlan> plan, std::unique_ptr<Session> session);

  /// Executes the requests, and answers and releases each of them.
  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count);

 private:
  using Batch = backend::Batch;

  /// Finds and checks the inputs of a request, and records the outputs that it requests.
  Error Prepare(size_t index, backend::BatchMember* member);
  Error PrepareInput(const PlannedInput& plan, backend::Input* input, backend::BatchMember* member,
                     bool* sized);
  /// Runs the given requests together.
  Error RunGroup(Batch* batch, std::span<const size_t> members);
  Error RunOpen(Batch* batch, std::span<const size_t> members);
  /// Releases the results of the session.
  void ClearResults();

  // Implemented in gather.cc.
  Error Gather(std::span<const size_t> members);
  Error GatherInput(std::span<const size_t> members, size_t index);
  Error KeepOne(const PlannedInput& plan, InputTensor* tensor) const;
  Error GatherShape(const PlannedInput& plan, std::vector<int64_t>* shape);
  Error SplitTexts(const PlannedInput& plan, const char* data,
                   std::vector<std::string_view>* texts);

  // Implemented in scatter.cc.
  Error CheckResult(const PlannedOutput& plan, const OutputTensor& result) const;
  Error Cut(Batch* batch, std::span<const size_t> members, size_t result);
  Error Scatter(Batch* batch, std::span<const size_t> members);
  Error Give(Batch* batch, size_t member, size_t result, const backend::OutputPart& part);

  // The reasons why an output of a request is computed.
  static constexpr unsigned char kState = 1;
  static constexpr unsigned char kAnswer = 2;

  bool Wants(size_t member, size_t output) const {
    return wanted_[member * plan_->outputs.size() + output] != 0;
  }
  const PlannedOutput& OutputOf(size_t result) const {
    return plan_->open_outputs ? open_outputs_[result] : plan_->outputs[run_outputs_[result]];
  }
  backend::Input& InputOf(size_t member, size_t input) {
    return inputs_[member * plan_->inputs.size() + input];
  }

  const std::shared_ptr<const RunPlan> plan_;
  const std::unique_ptr<Session> session_;

  // Reused by each Execute.
  std::vector<backend::BatchMember> members_;
  std::vector<size_t> runnable_;
  std::vector<backend::Input> inputs_;                // [request][input]
  std::vector<unsigned char> wanted_;                 // [request][output]
  std::vector<InputTensor> run_inputs_;               // for each input of the plan
  std::vector<size_t> run_outputs_;                   // indices of the plan's outputs
  std::vector<PlannedOutput> open_outputs_;           // outputs of a run without planned ones
  std::vector<OutputTensor> results_;                 // for each of run_outputs_ or open_outputs_
  std::vector<std::vector<int64_t>> shapes_;          // for each of run_inputs_
  std::vector<std::vector<std::string_view>> texts_;  // for each of run_inputs_
  std::vector<backend::AlignedBuffer> gathered_;      // for each of run_inputs_
  std::vector<std::vector<backend::OutputPart>> parts_;  // for each of results_
  std::vector<backend::Input> same_input_;               // scratch
  std::vector<int64_t> batch_sizes_;                     // scratch
};

}  // namespace nereid::framework
