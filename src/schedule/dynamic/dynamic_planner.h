// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "config/model_config.h"
#include "schedule/adaptive/batch_limits.h"
#include "schedule/batch_planner.h"
#include "schedule/dynamic/batch_compatibility.h"
#include "schedule/dynamic/batch_strategy.h"
#include "schedule/dynamic/lone_requests.h"
#include "schedule/queue/request_queue.h"
#include "schedule/start_gate.h"

namespace nereid::schedule {

/// The dynamic batcher. When an instance is free, the planner collects requests from the front of
/// the queue while they are compatible and fit into max_batch_size. Then it applies the first rule
/// that holds:
///  1. If some prefix of the collected requests has a preferred size, the largest such prefix runs.
///     If the next request would exceed the largest preferred size, the prefix before it runs.
///  2. If collecting stopped at a request that does not fit, is not compatible or is excluded by
///     the BatchStrategy, all collected requests run: a wait could not enlarge the batch.
///  3. If the oldest collected request has waited for the delay, or no delay is configured, all
///     collected requests run.
///  4. If a collected request would miss its client's deadline by a longer wait, all collected
///     requests run. With the model parameter batch_before_timeout the same holds for a request
///     that the queue policy would refuse.
///  5. With the model parameter no_waiting_alone, a request that is the only one in the queue runs
///  if
///     earlier requests waited alone in vain (LoneRequests).
///  6. Otherwise the planner waits, at most until the delay of the oldest request is over.
///
/// Rule 1 does not apply when the oldest request's delay is over; then the other rules do.
///
/// A request is never split; its batch dimension counts. A batch may span priority levels. With
/// BatchLimits, these replace preferred sizes and delay.
class DynamicPlanner final : public BatchPlanner {
 public:
  /// The model parameter ("true" or "false") that lets a waiting batch run before one of its
  /// requests times out. Triton lets the request time out.
  static constexpr const char* kBatchBeforeTimeout = "batch_before_timeout";

  /// The model parameter ("true" or "false") that lets a request run at once if no other one is
  /// expected to join it. In Triton it waits for the whole delay.
  static constexpr const char* kNoWaitingAlone = "no_waiting_alone";

  /// A batch is not held back when less than this is left until it must run. Allows for a late
  /// timer and the hand-over to the instance.
  static constexpr uint64_t kDeadlineMarginNs = 1'000'000;

  /// Creates a planner for a configuration with dynamic batching options, which must outlive it.
  /// `limits` may be null.
  explicit DynamicPlanner(const config::ModelConfig& config,
                          std::shared_ptr<BatchLimits> limits = nullptr);
  /// Creates a planner with `options` instead of the configuration's own.
  DynamicPlanner(const config::ModelConfig& config, const config::DynamicBatchingOptions& options,
                 std::shared_ptr<BatchLimits> limits = nullptr);

  /// Returns INVALID_ARGUMENT if one of the parameters above is neither "true" nor "false".
  static base::Status CheckParameters(const config::ModelConfig& config);

  /// Sets the strategy that is asked for each request. Must be called before the first Push.
  void SetStrategy(std::shared_ptr<BatchStrategy> strategy) { strategy_ = std::move(strategy); }

  base::Status Push(RequestPtr& request, uint64_t now_ns) override;
  Decision Next(uint64_t now_ns, InstanceId instance, std::vector<Refusal>* refused) override;
  uint64_t ReadyAt(uint64_t now_ns, InstanceId instance) override;
  void Expire(uint64_t now_ns, std::vector<Refusal>* refused) override;
  uint64_t NextExpiry() const override { return queue_.NextExpiry(); }
  void DropCancelled(uint64_t /*now_ns*/, std::vector<Refusal>* refused) override;
  void DropAll(const base::Status& error, std::vector<Refusal>* refused) override;
  RequestPtr DropFirst(uint64_t now_ns) override;
  /// Lifts the start conditions.
  void Drain(uint64_t now_ns) override;
  size_t size() const override { return queue_.size(); }

  /// Sets the conditions for the first batch. Must be called before the first Push.
  void SetStartConditions(StartConditions conditions) { gate_ = StartGate(conditions); }

  /// Queues a request in a queue without a maximum size and sets `waiting` to its place. For a
  /// caller that keeps its own queue (OldestCandidates). The caller keeps the request if the
  /// function throws std::bad_alloc.
  void PushUnbounded(RequestPtr& request, uint64_t now_ns, const RequestQueue::Waiting** waiting);
  /// Removes a request from the queue and returns it.
  RequestPtr Withdraw(const RequestQueue::Waiting& waiting);

 private:
  /// The requests collected from the front of the queue. Kept between calls, so that a long batch
  /// that fills slowly is not collected again for each arriving request: collecting goes on after
  /// `last`.
  struct Prefix {
    const RequestQueue::Waiting* last = nullptr;
    size_t requests = 0;
    uint64_t size = 0;
    uint64_t limit = 0;             // of the size; 0: not looked up yet
    uint64_t oldest_ns = kNever;    // arrival; with levels not that of the first request
    uint64_t newest_ns = 0;         // arrival
    uint64_t must_run_ns = kNever;  // when the batch must run; see MustRunBefore
    bool closed = false;            // the batch is full, or the next request cannot join
    BatchReason closed_reason = BatchReason::kFull;
    size_t best_requests = 0;  // the requests of the prefix that rule 1 selects; 0: none
    BatchReason best_reason = BatchReason::kPreferred;
  };
  struct Choice {
    size_t requests = 0;  // requests to run now; 0: none before wake_ns
    BatchReason reason = BatchReason::kNoDelay;
    uint64_t wake_ns = kNever;
  };

  /// Extends the prefix from the queue until it is closed or the queue ends.
  void Collect();
  /// Sets the size limit of the prefix. A prefix that was collected under another limit is
  /// discarded.
  void SetLimit(uint64_t now_ns);
  Choice ChooseByLimits(uint64_t now_ns);
  /// Returns whether `next` joins the prefix; if not, closes the prefix.
  bool MayJoin(const RequestQueue::Waiting& next);
  /// Applies the rules to the collected prefix.
  Choice Choose(uint64_t now_ns);
  /// Takes the first `count` requests out of the queue as a batch.
  Batch Take(size_t count, BatchReason reason, uint64_t now_ns);
  /// Moves the cancelled requests among the first `count` to `refused`. Returns whether there were
  /// any.
  bool DropCancelledOfFirst(size_t count, std::vector<Refusal>* refused);
  bool IsPreferred(uint64_t size) const;
  /// Returns the time before which a batch with this request must run; kNever if there is none.
  uint64_t MustRunBefore(const RequestQueue::Waiting& waiting) const;
  void ResetPrefix() { prefix_ = {}; }

  const uint64_t max_batch_size_;
  const base::Duration delay_;
  const bool before_timeout_;
  const bool no_waiting_alone_;
  std::vector<uint64_t> preferred_;
  uint64_t largest_preferred_ = 0;
  const BatchCompatibility compatibility_;
  const std::shared_ptr<BatchLimits> limits_;
  std::shared_ptr<BatchStrategy> strategy_;  // null for most models
  RequestQueue queue_;
  Prefix prefix_;
  LoneRequests lone_;
  StartGate gate_;
};

}  // namespace nereid::schedule
