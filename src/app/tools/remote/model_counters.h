// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::app::tools {

/// A counter of the statistics extension: how often, and nanoseconds in all.
struct DurationCounter {
  uint64_t count = 0;
  uint64_t ns = 0;
};

/// The counters of executions with one batch size.
struct BatchCounter {
  uint64_t size = 0;
  uint64_t executions = 0;
  uint64_t ns = 0;  // input, inference and output
};

/// The counters of one version of a model. They grow from the load of the model on.
struct ModelCounters {
  std::string name;
  std::string version;
  uint64_t inferences = 0;
  uint64_t executions = 0;
  DurationCounter success, fail, queue, compute_input, compute_infer, compute_output, cache_hit;
  std::vector<BatchCounter> batches;
  uint64_t memory_bytes = 0;  // 0: not known
};

/// Reads the document of the statistics extension. Unknown members are ignored. An error for
/// another document, more than kMaxListed models, and more than 10,000 batch sizes of a model.
base::Result<std::vector<ModelCounters>> DecodeCounters(std::string_view json);

/// Returns what was counted between two states of the same counters. A model that was loaded anew
/// in between counts from zero, so its later state is the difference.
ModelCounters Difference(const ModelCounters& before, const ModelCounters& after);

/// Returns the sum of the counters of all versions of one model.
ModelCounters Sum(const std::vector<ModelCounters>& versions, std::string_view model);

}  // namespace nereid::app::tools
