// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "config/model_config.h"
#include "schedule/adaptive/batch_limits.h"

namespace nereid::schedule {

/// The model parameter ("true" or "false") that lets the server limit dynamic batches to the size
/// that costs the least. Without it, the server does so for models on CPUs whose configuration does
/// not ask for dynamic batching (the backend has offered it).
inline constexpr const char* kCheapestBatchParameter = "cheapest_batch_size";

/// Returns whether the batches of a model should be limited by CheapestBatch. `chosen_by_server`:
/// the configuration that the user wrote has no dynamic batching, and no instance is on a GPU.
/// Returns INVALID_ARGUMENT, naming the parameter, if it is neither "true" nor "false", or "true"
/// for a model without dynamic batching.
base::Result<bool> WantsCheapestBatch(const config::ModelConfig& config, bool chosen_by_server);

/// Limits batches to the size whose executions cost the least for each request. On CPUs, a batch
/// often takes longer than its requests one by one, because its intermediate tensors do not fit
/// into the caches.
///
/// Sizes are compared in trials. A trial goes through the classes of sizes (1, 2 to 3, 4 to 7, ...)
/// from the largest to the smallest and limits the size to each class until kSamples executions
/// have begun and ended, and enough of them were as large as the queue allowed. A request that is
/// executed alone is counted only if it had to wait, because an execution without a crowd may use
/// more cores. The cost of a class is the median of the durations per request. The smallest class
/// that costs at most 3 % more than the cheapest one is the limit until the next trial; there is no
/// limit if that is the largest class which the queue could fill.
/// The result applies for 16 times as many executions as the trial had, and for twice as many each
/// time it is the same again, 128 times at most.
///
/// Time is a parameter. Not thread-safe, except size_limit().
class CheapestBatch final : public BatchLimits {
 public:
  static constexpr uint32_t kSamples = 5;

  explicit CheapestBatch(uint64_t max_batch_size);

  uint64_t SizeLimit(uint64_t, uint64_t) const override { return size_limit(); }
  uint64_t WaitUntil(const FormingBatch&, uint64_t) override { return kNoHold; }
  void OnTaken(const FormingBatch& batch, uint64_t now_ns) override;
  void OnExecuted(uint64_t size, uint64_t wait_ns, uint64_t execution_ns, uint64_t now_ns) override;
  uint64_t size_limit() const override { return limit_.load(std::memory_order_relaxed); }

 private:
  /// The classes of sizes below 2^31, the largest max_batch_size.
  static constexpr size_t kClasses = 31;
  /// A class with fewer samples is not compared.
  static constexpr uint32_t kMinSamples = 3;
  /// A stage ends after so many executions even if few of them were as large as the queue allowed:
  /// while one instance executes a large batch, others execute many small ones.
  static constexpr uint32_t kMaxStageExecutions = 512;

  /// The durations per request of the last executions.
  struct Samples {
    std::array<uint64_t, kSamples> ns{};
    uint32_t count = 0;  // of all executions of the trial

    void Add(uint64_t value) { ns[count++ % kSamples] = value; }
    bool known() const { return count >= kMinSamples; }
    uint64_t Median() const;
  };

  static size_t ClassOf(uint64_t size);
  uint64_t LargestOf(size_t size_class) const;
  void BeginTrial(uint64_t now_ns);
  void BeginStage(size_t size_class, uint64_t now_ns);
  void EndStage(uint64_t now_ns);
  void EndTrial();
  void SetLimit(uint64_t limit) { limit_.store(limit, std::memory_order_relaxed); }

  const uint64_t max_batch_size_;
  std::atomic<uint64_t> limit_;
  // The current trial.
  bool in_trial_ = true;
  std::array<Samples, kClasses> samples_{};
  uint64_t trial_executions_ = 0;
  size_t largest_class_ = 0;  // that the queue could fill
  // Its current stage, which limits the size to a class.
  size_t stage_class_ = 0;
  uint64_t stage_begin_ns_ = 0;
  uint32_t in_flight_ = 0;           // batches, in all stages
  uint32_t earlier_in_flight_ = 0;   // that began before the stage
  uint32_t stage_executions_ = 0;    // all that have ended
  uint32_t settled_executions_ = 0;  // after the last earlier one
  size_t stage_largest_class_ = 0;   // of the batches that began in it
  // Between two trials.
  uint64_t executions_left_ = 0;
  uint64_t last_result_ = 0;  // the limit that the last trial set; 0 before the first one
  uint64_t rest_ = 0;         // for how many times the executions of the trial it applies
};

}  // namespace nereid::schedule
