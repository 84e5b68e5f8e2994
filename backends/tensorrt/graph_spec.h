// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tensorrt/engine.h"
#include "tensorrt/settings.h"

namespace nereid::tensorrt {

/// The inputs for which a CUDA graph is captured and used. A graph executes with the shapes
/// `upper`. It also serves inputs down to `lower`, which differs from `upper` in first dimensions
/// only: the rest of the buffers is computed as well and dropped.
struct GraphRange {
  // For each input of the engine: the shape or, for a shape tensor, the values.
  std::vector<std::vector<int64_t>> lower;
  std::vector<std::vector<int64_t>> upper;
};

/// Sets the graphs for a profile of a model: those of optimization.cuda.graph_spec or, without a
/// specification, the batch sizes 1, 2, 4, ... and `max_batch_size` (0: the model does not batch)
/// with the profile's optimum for everything else that is variable. Leaves out those that the
/// profile does not accept. INVALID_ARG for a specification that does not fit the engine.
Error MakeGraphRanges(const std::vector<GraphSpec>& specs, const std::vector<EngineTensor>& inputs,
                      int64_t max_batch_size, const Profile& profile,
                      std::vector<GraphRange>* ranges);

/// Returns the index of the smallest graph that accepts the inputs, or -1.
int ChooseGraph(std::span<const GraphRange> ranges, std::span<const std::vector<int64_t>> inputs);

}  // namespace nereid::tensorrt
