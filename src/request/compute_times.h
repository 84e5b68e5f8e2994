// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace nereid::request {

/// The time that executions spent on a request and on the requests made for it (the steps of an
/// ensemble), and the time that these waited for their executions, in nanoseconds. Each counted
/// execution adds to the times; they are read after all executions have ended. Thread-safe.
struct ComputeTimes {
  std::atomic<uint64_t> queue_ns{0};
  std::atomic<uint64_t> input_ns{0};
  std::atomic<uint64_t> infer_ns{0};
  std::atomic<uint64_t> output_ns{0};

  void Add(uint64_t queue, uint64_t input, uint64_t infer, uint64_t output) {
    queue_ns.fetch_add(queue, std::memory_order_relaxed);
    input_ns.fetch_add(input, std::memory_order_relaxed);
    infer_ns.fetch_add(infer, std::memory_order_relaxed);
    output_ns.fetch_add(output, std::memory_order_relaxed);
  }
};

}  // namespace nereid::request
