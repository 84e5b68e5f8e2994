// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/plan.h"
#include "framework/session.h"
#include "tensorrt/engine.h"
#include "tensorrt/execution.h"

namespace nereid::tensorrt {

/// A session with its own engine, and an execution for each profile that the instance may use.
class TensorRtSession : public framework::Session {
 public:
  /// Creates a session on the GPU `device`. `profiles` are indices of the engine's profiles.
  static Error Create(std::shared_ptr<const framework::RunPlan> plan,
                      std::unique_ptr<Engine> engine, const std::vector<int>& profiles, int device,
                      std::unique_ptr<framework::Session>* session);

  Error Run(std::span<const framework::InputTensor> inputs, std::span<const size_t> outputs,
            std::span<framework::OutputTensor> results) override;

 private:
  TensorRtSession(std::shared_ptr<const framework::RunPlan> plan, std::unique_ptr<Engine> engine,
                  int device)
      : plan_(std::move(plan)), engine_(std::move(engine)), device_(device) {}

  /// Sets a shape tensor's values. For a model that batches, the batch size is inserted before
  /// them.
  void PrependBatch(const framework::InputTensor& tensor, size_t place, int64_t batch_size);
  Error TakeInputs(std::span<const framework::InputTensor> inputs);

  const std::shared_ptr<const framework::RunPlan> plan_;
  const std::unique_ptr<Engine> engine_;
  const int device_;
  std::vector<Profile> profiles_;
  std::vector<std::unique_ptr<Execution>> executions_;  // for each of profiles_

  // For each input of the engine; reused by each run.
  std::vector<std::string> names_;
  // Shape, or values of a shape tensor; used to choose a profile.
  std::vector<std::vector<int64_t>> numbers_;
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<std::string> values_;  // values of shape tensors, with the batch size
  std::vector<const char*> data_;
  std::vector<uint64_t> sizes_;
};

}  // namespace nereid::tensorrt
