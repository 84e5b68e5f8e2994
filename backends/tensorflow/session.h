// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "framework/plan.h"
#include "framework/session.h"
#include "tensorflow/loaded_graph.h"

namespace nereid::tensorflow {

/// Runs a graph for one instance.
class GraphSession final : public framework::Session {
 public:
  GraphSession(std::shared_ptr<const LoadedGraph> graph,
               std::shared_ptr<const framework::RunPlan> plan);

  bool may_repeat() const override { return !graph_->changes_state; }

  Error Run(std::span<const framework::InputTensor> inputs, std::span<const size_t> outputs,
            std::span<framework::OutputTensor> results) override;

 private:
  static constexpr ptrdiff_t kNone = -1;

  /// Creates the tensors of the inputs.
  Error Feed(std::span<const framework::InputTensor> inputs);

  const std::shared_ptr<const LoadedGraph> graph_;
  const std::shared_ptr<const framework::RunPlan> plan_;
  const Owned<TF_Buffer> run_options_;
  Status status_;
  /// For each output of the plan, the input that is the same tensor of the graph, or kNone.
  std::vector<ptrdiff_t> echoes_;

  // Reused by each run.
  std::vector<TF_Output> fed_;
  std::vector<TF_Tensor*> feeds_;
  std::vector<Owned<TF_Tensor>> owners_;  // own feeds_
  std::vector<TF_Output> fetched_;
  std::vector<TF_Tensor*> fetches_;
  std::vector<framework::OutputTensor*> fetched_results_;
};

}  // namespace nereid::tensorflow
