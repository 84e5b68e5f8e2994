// SPDX-License-Identifier: Apache-2.0
#include "schedule/adaptive/latency_objective.h"

#include <algorithm>
#include <string>

#include "base/parse_number.h"

namespace nereid::schedule {

using base::Status;

namespace {

constexpr uint64_t kMinObjectiveUs = 100;
constexpr uint64_t kMaxObjectiveUs = 3'600'000'000;  // an hour

// A period of a trial contains more than one hold, and ends in a reasonable time.
constexpr uint64_t kMaxPeriodNs = 100'000'000;
constexpr uint64_t kMinIdleNs = 1'000'000'000;

}  // namespace

base::Result<std::optional<uint64_t>> ReadLatencyObjective(const config::ModelConfig& config) {
  const std::string* const text = config.FindParameter(kLatencyObjectiveParameter);
  if (text == nullptr) return std::optional<uint64_t>();
  const std::string prefix =
      "model '" + config.name() + "': parameter '" + kLatencyObjectiveParameter + "' ";
  const auto us = base::ParseWhole<uint64_t>(*text);
  if (!us || *us < kMinObjectiveUs || *us > kMaxObjectiveUs) {
    return Status::InvalidArgument(prefix + "is '" + *text + "', but must be an integer from " +
                                   std::to_string(kMinObjectiveUs) + " to " +
                                   std::to_string(kMaxObjectiveUs));
  }
  if (!config.dynamic_batching()) {
    return Status::InvalidArgument(prefix +
                                   "needs dynamic_batching, which the model does not have");
  }
  return std::optional<uint64_t>(*us * 1000);
}

LatencyObjective::LatencyObjective(uint64_t objective_ns, uint64_t max_batch_size)
    : max_batch_size_(std::max<uint64_t>(1, max_batch_size)),
      rules_(objective_ns, max_batch_size_),
      trial_(std::min(objective_ns, kMaxPeriodNs), std::max(objective_ns, kMinIdleNs)),
      published_limit_(max_batch_size_) {}

uint64_t LatencyObjective::SizeLimit(uint64_t oldest_ns, uint64_t now_ns) const {
  return trial_.applies() ? rules_.SizeLimit(oldest_ns, now_ns) : max_batch_size_;
}

uint64_t LatencyObjective::WaitUntil(const FormingBatch& batch, uint64_t now_ns) {
  return trial_.applies() ? rules_.WaitUntil(batch, now_ns) : now_ns;
}

void LatencyObjective::OnTaken(const FormingBatch& batch, uint64_t now_ns) {
  rules_.OnTaken(batch, now_ns);
}

void LatencyObjective::OnExecuted(uint64_t size, uint64_t wait_ns, uint64_t execution_ns,
                                  uint64_t now_ns) {
  rules_.OnExecuted(size, wait_ns, execution_ns, now_ns);
  trial_.OnExecuted(size, now_ns);
  published_limit_.store(trial_.applies() ? rules_.size_limit() : max_batch_size_,
                         std::memory_order_relaxed);
}

}  // namespace nereid::schedule
