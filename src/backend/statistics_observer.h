// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "memory/buffer_attributes.h"
#include "request/inference_request.h"

namespace nereid::backend {

/// The times of one execution, in monotonic nanoseconds.
struct ExecutionTimes {
  uint64_t exec_start_ns = 0;
  uint64_t compute_start_ns = 0;  // the inputs are ready
  uint64_t compute_end_ns = 0;    // the outputs exist
  uint64_t exec_end_ns = 0;
};

/// The times of one response of a decoupled request, in monotonic nanoseconds.
struct ResponseTimes {
  uint64_t response_index = 0;
  uint64_t response_start_ns = 0;
  uint64_t compute_output_start_ns = 0;  // 0: an empty response
  uint64_t response_end_ns = 0;
  base::Status error;
};

/// Receives what plug-ins report about their work, for the statistics. Called on any thread.
class StatisticsObserver {
 public:
  virtual ~StatisticsObserver() = default;
  virtual void OnRequest(const request::InferenceRequest& request, bool success,
                         const ExecutionTimes& times) = 0;
  virtual void OnBatch(uint64_t batch_size, const ExecutionTimes& times) = 0;
  virtual void OnResponse(const ResponseTimes& times) = 0;
  /// Receives all memory that an instance uses, one entry for each location. Replaces what was
  /// reported before.
  virtual void OnMemoryUsage(const std::vector<memory::BufferAttributes>& usage) = 0;
};

}  // namespace nereid::backend
