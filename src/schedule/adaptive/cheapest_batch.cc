// SPDX-License-Identifier: Apache-2.0
#include "schedule/adaptive/cheapest_batch.h"

#include <algorithm>
#include <bit>
#include <string>

namespace nereid::schedule {

using base::Status;

namespace {

/// A request that is executed alone belongs to a crowd if it has waited for this part of its
/// execution, a quarter.
constexpr uint64_t kWaitPart = 4;
/// A class that costs this much more than the cheapest one is as good: smaller batches answer
/// earlier.
constexpr double kTolerance = 1.03;
// The executions for which a result applies, in trials.
constexpr uint64_t kShortestRest = 16;
constexpr uint64_t kLongestRest = 128;

}  // namespace

base::Result<bool> WantsCheapestBatch(const config::ModelConfig& config, bool chosen_by_server) {
  const std::string* const text = config.FindParameter(kCheapestBatchParameter);
  if (text == nullptr) return chosen_by_server && config.dynamic_batching().has_value();
  const std::string prefix =
      "model '" + config.name() + "': parameter '" + kCheapestBatchParameter + "' ";
  if (*text != "true" && *text != "false") {
    return Status::InvalidArgument(prefix + "is '" + *text + "', but must be 'true' or 'false'");
  }
  if (*text == "true" && !config.dynamic_batching()) {
    return Status::InvalidArgument(prefix +
                                   "needs dynamic_batching, which the model does not have");
  }
  return *text == "true";
}

CheapestBatch::CheapestBatch(uint64_t max_batch_size)
    : max_batch_size_(std::max<uint64_t>(1, max_batch_size)), limit_(max_batch_size_) {
  BeginTrial(0);
}

size_t CheapestBatch::ClassOf(uint64_t size) {
  const auto width = static_cast<size_t>(std::bit_width(std::max<uint64_t>(1, size)));
  return std::min(width - 1, kClasses - 1);
}

uint64_t CheapestBatch::LargestOf(size_t size_class) const {
  return std::min(max_batch_size_, (uint64_t{2} << size_class) - 1);
}

void CheapestBatch::OnTaken(const FormingBatch& batch, uint64_t) {
  ++in_flight_;
  if (in_trial_) stage_largest_class_ = std::max(stage_largest_class_, ClassOf(batch.size));
}

void CheapestBatch::OnExecuted(uint64_t size, uint64_t wait_ns, uint64_t execution_ns,
                               uint64_t now_ns) {
  if (in_flight_ > 0) --in_flight_;
  if (max_batch_size_ == 1) return;
  if (!in_trial_) {
    if (--executions_left_ == 0) BeginTrial(now_ns);
    return;
  }
  const bool settled = earlier_in_flight_ == 0;
  if (now_ns - execution_ns < stage_begin_ns_ && !settled) --earlier_in_flight_;
  if (size <= 1 && wait_ns < execution_ns / kWaitPart) return;
  samples_[ClassOf(size)].Add(execution_ns / std::max<uint64_t>(1, size));
  ++trial_executions_;
  ++stage_executions_;
  if (settled) ++settled_executions_;
  const bool measured = settled_executions_ >= kSamples && samples_[stage_largest_class_].known();
  if (measured || stage_executions_ >= kMaxStageExecutions) EndStage(now_ns);
}

void CheapestBatch::BeginTrial(uint64_t now_ns) {
  in_trial_ = true;
  samples_.fill({});
  trial_executions_ = 0;
  largest_class_ = 0;
  BeginStage(ClassOf(max_batch_size_), now_ns);
}

void CheapestBatch::BeginStage(size_t size_class, uint64_t now_ns) {
  stage_class_ = size_class;
  stage_begin_ns_ = now_ns;
  earlier_in_flight_ = in_flight_;
  stage_executions_ = 0;
  settled_executions_ = 0;
  stage_largest_class_ = 0;
  SetLimit(LargestOf(size_class));
}

void CheapestBatch::EndStage(uint64_t now_ns) {
  // A class without enough samples is as if the queue could not fill it.
  while (stage_largest_class_ > 0 && !samples_[stage_largest_class_].known()) {
    --stage_largest_class_;
  }
  largest_class_ = std::max(largest_class_, stage_largest_class_);
  if (stage_class_ == 0 || stage_largest_class_ == 0) return EndTrial();
  // Classes that the queue could not fill need no stage. A request that is a batch itself can be
  // larger than the limit.
  BeginStage(std::min(stage_class_, stage_largest_class_) - 1, now_ns);
}

void CheapestBatch::EndTrial() {
  uint64_t least = UINT64_MAX;
  for (const Samples& samples : samples_) {
    if (samples.known()) least = std::min(least, samples.Median());
  }
  const double enough = kTolerance * static_cast<double>(least);
  size_t cheapest = 0;
  while (
      cheapest < largest_class_ &&
      !(samples_[cheapest].known() && static_cast<double>(samples_[cheapest].Median()) <= enough)) {
    ++cheapest;
  }
  const uint64_t result = cheapest == largest_class_ ? max_batch_size_ : LargestOf(cheapest);
  rest_ = result == last_result_ ? std::min(2 * rest_, kLongestRest) : kShortestRest;
  last_result_ = result;
  executions_left_ = rest_ * trial_executions_;
  in_trial_ = false;
  SetLimit(result);
}

uint64_t CheapestBatch::Samples::Median() const {
  std::array<uint64_t, kSamples> sorted = ns;
  const size_t size = std::min(count, kSamples);
  auto* const middle = sorted.begin() + size / 2;
  std::nth_element(sorted.begin(), middle, sorted.begin() + size);
  return *middle;
}

}  // namespace nereid::schedule
