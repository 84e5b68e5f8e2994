// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace nereid::schedule {

/// Whether requests may run on the thread that brings them.
enum class InlineMode { kAuto, kAlways, kNever };

/// Decides, from how long the model's executions take, whether handing a request over to the
/// instance's own thread costs more than it gains. A hand-over there and back costs two wake-ups
/// (about ten microseconds of CPU); an execution that is shorter than that is better run where the
/// request arrived. Thread-safe; racing updates may lose a sample, which does no harm.
class InlinePolicy {
 public:
  /// Executions up to this long count as cheap.
  static constexpr uint64_t kCheapNs = 25'000;
  /// Executions seen before the average is trusted.
  static constexpr uint32_t kMinimumSamples = 16;

  explicit InlinePolicy(InlineMode mode) : mode_(mode) {}

  bool RunInline() const {
    if (mode_ != InlineMode::kAuto) return mode_ == InlineMode::kAlways;
    return samples_.load(std::memory_order_relaxed) >= kMinimumSamples &&
           average_ns_.load(std::memory_order_relaxed) <= kCheapNs;
  }

  /// Records one execution. The average forgets with a factor of 7/8: a single slow execution ends
  /// inline running at once, and it takes many cheap ones to come back.
  void Record(uint64_t execution_ns) {
    if (mode_ != InlineMode::kAuto) return;
    const uint32_t samples = samples_.load(std::memory_order_relaxed);
    const uint64_t average = average_ns_.load(std::memory_order_relaxed);
    average_ns_.store(samples == 0 ? execution_ns : average - average / 8 + execution_ns / 8,
                      std::memory_order_relaxed);
    if (samples < kMinimumSamples) samples_.store(samples + 1, std::memory_order_relaxed);
  }

  InlineMode mode() const { return mode_; }

 private:
  const InlineMode mode_;
  std::atomic<uint64_t> average_ns_{0};
  std::atomic<uint32_t> samples_{0};
};

}  // namespace nereid::schedule
