// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/plan.h"
#include "framework/session.h"
#include "tensorrt/engine.h"
#include "tensorrt/engine_pool.h"
#include "tensorrt/execution.h"
#include "tensorrt/settings.h"

namespace nereid::tensorrt {

/// A session on an engine that it shares with the other instances of its GPU, with streams of its
/// own and an execution for each profile that the instance may use.
class TensorRtSession : public framework::Session {
 public:
  struct Options {
    Execution::Options execution;
    bool busy_wait = false;
    bool output_stream = false;
    int priority = 0;
    /// Whether CUDA graphs are captured, for `graph_specs` or for the default.
    bool graphs = false;
    std::vector<GraphSpec> graph_specs;
    int64_t max_batch_size = 0;
  };

  /// The engine's GPU must be the current one.
  static Error Create(std::shared_ptr<const framework::RunPlan> plan, EngineLease engine,
                      const Options& options, std::unique_ptr<framework::Session>* session);
  ~TensorRtSession() override;

  int gpu() const override { return lease_.gpu->ordinal(); }
  Error Run(std::span<const framework::InputTensor> inputs, std::span<const size_t> outputs,
            std::span<framework::OutputTensor> results) override;

 private:
  TensorRtSession(std::shared_ptr<const framework::RunPlan> plan, EngineLease engine)
      : plan_(std::move(plan)), lease_(std::move(engine)) {}

  /// What the engine gets for one of its inputs. Reused by each run.
  struct Slot {
    std::vector<int64_t> shape;
    /// The values of a shape tensor, with the batch size.
    std::string values;
  };

  Error Prepare(const Options& options);
  Error CaptureGraphs(const Options& options);
  /// Sets the values of a shape tensor. For a model that batches, the batch size is inserted before
  /// them.
  Error TakeShapeTensor(const framework::InputTensor& tensor, size_t place, int64_t batch_size);
  Error TakeInputs(std::span<const framework::InputTensor> inputs);
  Error CheckSize(const RunInput& input, size_t place) const;
  Error SpreadShapeTensor(const framework::PlannedOutput& plan,
                          framework::OutputTensor* result) const;

  const std::shared_ptr<const framework::RunPlan> plan_;
  EngineLease lease_;
  std::unique_ptr<Streams> streams_;
  std::vector<Profile> profiles_;
  std::vector<std::unique_ptr<Execution>> executions_;  // for each of profiles_
  std::vector<std::string> names_;                      // of the engine's inputs

  // Reused by each run; for each input of the engine.
  std::vector<Slot> slots_;
  std::vector<RunInput> inputs_;
  // Shape, or values of a shape tensor; used to choose a profile and a graph.
  std::vector<std::vector<int64_t>> numbers_;
  int64_t batch_size_ = 1;
};

}  // namespace nereid::tensorrt
