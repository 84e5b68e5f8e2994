// SPDX-License-Identifier: Apache-2.0
#include "schedule/adaptive/execution_cost.h"

#include <algorithm>
#include <cmath>

namespace nereid::schedule {
namespace {

constexpr double kDecay = 0.98;
constexpr double kDeviationWeight = 1.0 / 16;
constexpr double kDeviations = 4;
constexpr double kErrors = 2;
/// With a smaller variance of the batch sizes the slope of the line is noise.
constexpr double kMinVariance = 0.01;

}  // namespace

void ExecutionCost::Record(uint64_t size, uint64_t execution_ns) {
  const auto x = static_cast<double>(std::max<uint64_t>(1, size));
  const auto y = static_cast<double>(execution_ns);
  if (samples_ > 0) {
    const double off = std::abs(y - static_cast<double>(ExpectedNs(size)));
    deviation_ns_ += kDeviationWeight * (off - deviation_ns_);
  }
  weight_ = kDecay * weight_ + 1;
  sizes_ = kDecay * sizes_ + x;
  times_ = kDecay * times_ + y;
  sizes_squared_ = kDecay * sizes_squared_ + x * x;
  products_ = kDecay * products_ + x * y;
  times_squared_ = kDecay * times_squared_ + y * y;
  if (samples_ < kMinSamples) ++samples_;
}

ExecutionCost::Line ExecutionCost::Fit() const {
  Line line;
  if (weight_ == 0) return line;
  const double mean_size = sizes_ / weight_;
  const double mean_time = times_ / weight_;
  const double variance = sizes_squared_ / weight_ - mean_size * mean_size;
  line.measured = variance > kMinVariance;
  line.per_item = line.measured ? (products_ / weight_ - mean_size * mean_time) / variance
                                : mean_time / mean_size;
  // Noise can give a line that falls or has a negative intercept. Costs do neither.
  line.per_item = std::clamp(line.per_item, 0.0, mean_time / mean_size);
  line.fixed = mean_time - line.per_item * mean_size;
  if (!line.measured) {
    line.fixed = 0;
    return line;
  }
  // The usual standard error of an intercept, for the sizes' mean square and variance.
  const double time_variance = times_squared_ / weight_ - mean_time * mean_time;
  const double residual = std::max(0.0, time_variance - line.per_item * line.per_item * variance);
  line.fixed_error = std::sqrt(residual / weight_ * (1 + mean_size * mean_size / variance));
  return line;
}

uint64_t ExecutionCost::ExpectedNs(uint64_t size) const {
  const Line line = Fit();
  double ns = line.fixed + line.per_item * static_cast<double>(size);
  // All batches had one size: nothing shows that smaller ones cost less.
  if (!line.measured && weight_ > 0) ns = std::max(ns, times_ / weight_);
  return static_cast<uint64_t>(ns);
}

uint64_t ExecutionCost::UpperNs(uint64_t size) const {
  return ExpectedNs(size) + static_cast<uint64_t>(kDeviations * deviation_ns_);
}

double ExecutionCost::Line::SureFixed() const {
  return std::max(0.0, fixed - kErrors * fixed_error);
}

double ExecutionCost::LargestSaving() const {
  const Line line = Fit();
  if (!line.measured) return 1;
  const double alone = line.fixed + line.per_item;
  return alone <= 0 ? 0 : line.SureFixed() / alone;
}

double ExecutionCost::GainOfNextRequest(uint64_t size) const {
  const Line line = Fit();
  if (!line.measured) return 1;
  const auto n = static_cast<double>(std::max<uint64_t>(1, size));
  const double total = line.fixed + line.per_item * n;
  return total <= 0 ? 0 : line.SureFixed() / ((n + 1) * total);
}

}  // namespace nereid::schedule
