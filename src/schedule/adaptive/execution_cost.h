// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nereid::schedule {

/// What an execution costs, as a function of the size of its batch: the line a + b × size through
/// the executions of late (each weighs 2 % less than the next one), and how far they lie off it.
/// Not thread-safe.
class ExecutionCost {
 public:
  /// Executions seen before the line is worth anything.
  static constexpr uint32_t kMinimumSamples = 8;

  void Record(uint64_t size, uint64_t execution_ns);

  bool known() const { return samples_ >= kMinimumSamples; }
  /// In the mean. Where all batches were of one size, larger ones are taken to cost in proportion.
  uint64_t ExpectedNs(uint64_t size) const;
  /// What nearly all stay below: four mean deviations more.
  uint64_t UpperNs(uint64_t size) const;
  /// By what fraction the cost of one request falls when a batch of `size` gets one more; 1 where
  /// that is not known yet.
  double GainOfOneMore(uint64_t size) const;

 private:
  struct Line {
    double fixed = 0;       // a
    double per_item = 0;    // b
    bool measured = false;  // from batches of different sizes
  };
  Line Fit() const;

  // Sums over the executions, decayed.
  double weight_ = 0, sizes_ = 0, times_ = 0, sizes_squared_ = 0, products_ = 0;
  double deviation_ns_ = 0;
  uint32_t samples_ = 0;
};

}  // namespace nereid::schedule
