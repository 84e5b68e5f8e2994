// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nereid::schedule {

/// A model of the duration of an execution as a function of the batch size: the line a + b × size,
/// fitted by least squares to recent executions (each weighs 2 % less than the next one), and the
/// mean deviation from that line. Not thread-safe.
class ExecutionCost {
 public:
  /// The number of executions from which on the line is used.
  static constexpr uint32_t kMinSamples = 8;

  void Record(uint64_t size, uint64_t execution_ns);

  bool known() const { return samples_ >= kMinSamples; }
  /// Returns the expected duration. If all batches had one size, a larger batch is expected to cost
  /// in proportion to its size.
  uint64_t ExpectedNs(uint64_t size) const;
  /// Returns a duration that nearly all executions stay below: four mean deviations above
  /// ExpectedNs.
  uint64_t UpperNs(uint64_t size) const;
  // The next two take an a that is smaller by two standard errors, so that noise is no gain. They
  // return 1 while all batches had one size.

  /// Returns the fraction by which the cost per request falls at least in a batch without limits,
  /// compared with a batch of one.
  double LargestSaving() const;
  /// Returns the fraction by which the cost per request falls at least when a batch of `size` gets
  /// one more request.
  double GainOfNextRequest(uint64_t size) const;

 private:
  struct Line {
    double fixed = 0;        // a
    double per_item = 0;     // b
    double fixed_error = 0;  // the standard error of a
    bool measured = false;   // fitted to batches of different sizes

    double SureFixed() const;  // a, less two standard errors
  };
  Line Fit() const;

  // Sums over the executions, with exponential decay.
  double weight_ = 0, sizes_ = 0, times_ = 0, sizes_squared_ = 0, products_ = 0;
  double times_squared_ = 0;
  double deviation_ns_ = 0;
  uint32_t samples_ = 0;
};

}  // namespace nereid::schedule
