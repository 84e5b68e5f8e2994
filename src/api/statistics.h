// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nereid::api {

/// How often something happened, and the nanoseconds it took in all.
struct StatisticDuration {
  uint64_t count = 0;
  uint64_t ns = 0;
};

struct InferStatistics {
  StatisticDuration success, fail, queue, compute_input, compute_infer, compute_output, cache_hit,
      cache_miss;
};

struct ResponseStatistics {
  StatisticDuration compute_infer, compute_output, success, fail, empty_response, cancel;
};

struct BatchStatistics {
  uint64_t batch_size = 0;
  StatisticDuration compute_input, compute_infer, compute_output;
};

struct MemoryUsage {
  std::string type;  // "CPU", "CPU_PINNED", "GPU"
  int64_t id = 0;
  uint64_t byte_size = 0;
};

/// The statistics extension's answer for one model version.
struct ModelStatistics {
  std::string name;
  std::string version;
  uint64_t last_inference_ms = 0;  // since the epoch; 0 = never
  uint64_t inference_count = 0;
  uint64_t execution_count = 0;
  InferStatistics inference_stats;
  std::vector<std::pair<std::string, ResponseStatistics>> response_stats;  // by key
  std::vector<BatchStatistics> batch_stats;                                // by batch size
  std::vector<MemoryUsage> memory_usage;
};

}  // namespace nereid::api
