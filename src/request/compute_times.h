// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace nereid::request {

/// What executions spent on a request and on those that were made for it, in nanoseconds. Whoever
/// counts an execution adds to it; read when all are over. Thread-safe.
struct ComputeTimes {
  std::atomic<uint64_t> input_ns{0};
  std::atomic<uint64_t> infer_ns{0};
  std::atomic<uint64_t> output_ns{0};

  void Add(uint64_t input, uint64_t infer, uint64_t output) {
    input_ns.fetch_add(input, std::memory_order_relaxed);
    infer_ns.fetch_add(infer, std::memory_order_relaxed);
    output_ns.fetch_add(output, std::memory_order_relaxed);
  }
};

}  // namespace nereid::request
