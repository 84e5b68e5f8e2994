// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
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

  Error Run(std::span<const framework::InputTensor> inputs, std::span<const size_t> outputs,
            std::span<framework::OutputTensor> results) override;

 private:
  const std::shared_ptr<const LoadedGraph> graph_;
  const std::shared_ptr<const framework::RunPlan> plan_;
  const Owned<TF_Buffer> run_options_;
  Status status_;

  // Reused from one run to the next.
  std::vector<TF_Output> fed_;
  std::vector<TF_Tensor*> feeds_;
  std::vector<TF_Output> fetched_;
  std::vector<TF_Tensor*> fetches_;
};

}  // namespace nereid::tensorflow
