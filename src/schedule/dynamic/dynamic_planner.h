// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "config/model_config.h"
#include "schedule/adaptive/batch_limits.h"
#include "schedule/batch_planner.h"
#include "schedule/dynamic/batch_compatibility.h"
#include "schedule/dynamic/batch_strategy.h"
#include "schedule/queue/request_queue.h"
#include "schedule/start_gate.h"

namespace nereid::schedule {

/// The dynamic batcher. When an instance is free it looks at the queue from its front and collects
/// requests while they are compatible and fit into max_batch_size. Then:
///  - the largest prefix whose size is a preferred one is run (or, if the next request jumps over
///    the largest preferred size, the prefix before it);
///  - if none is, and collecting stopped because the next request does not fit, is not compatible
///  or
///    is left out by the BatchStrategy, everything collected is run: waiting could not make the
///    batch larger;
///  - if none is, and the oldest request has waited for the delay (or no delay is configured),
///    everything collected is run;
///  - if the deadline of a collected request's client would pass by waiting longer, everything
///    collected is run; with the model parameter batch_before_timeout, also if the queue policy
///    would refuse one;
///  - otherwise it waits for more requests, at most until the delay of the oldest expires. A
///    preferred prefix whose oldest request has outwaited the delay does not hold the rest back.
/// A request is never split; its batch dimension counts. The boundary between priority levels does
/// not close a batch. With BatchLimits, these take the place of preferred sizes and delay.
class DynamicPlanner final : public BatchPlanner {
 public:
  /// The name of the model parameter ("true" or "false") with which a batch that waits for more
  /// requests goes before one of its requests times out. Triton lets it time out.
  static constexpr const char* kBatchBeforeTimeout = "batch_before_timeout";

  /// A batch is not held back when less than this is left until the moment that it must not miss:
  /// room for a timer that fires late and for the hand-over.
  static constexpr uint64_t kRefusalMarginNs = 1'000'000;

  /// The configuration must have dynamic batching options; it must outlive the planner.
  /// `limits` may be null.
  explicit DynamicPlanner(const config::ModelConfig& config,
                          std::shared_ptr<BatchLimits> limits = nullptr);
  /// With other options than the configuration's.
  DynamicPlanner(const config::ModelConfig& config, const config::DynamicBatchingOptions& options,
                 std::shared_ptr<BatchLimits> limits = nullptr);

  /// What the parameter kBatchBeforeTimeout says; INVALID_ARGUMENT for another value.
  static base::Result<bool> BatchesBeforeTimeout(const config::ModelConfig& config);

  /// Asked for each request that could join a batch; before the first one is pushed.
  void SetStrategy(std::shared_ptr<BatchStrategy> strategy) { strategy_ = std::move(strategy); }

  base::Status Push(RequestPtr& request, uint64_t now_ns) override;
  Decision Next(uint64_t now_ns, InstanceId instance) override;
  uint64_t ReadyAt(uint64_t now_ns, InstanceId instance) override;
  void Expire(uint64_t now_ns, std::vector<Refusal>* refused) override;
  uint64_t NextExpiry() const override { return queue_.NextExpiry(); }
  void DropCancelled(uint64_t /*now_ns*/, std::vector<Refusal>* refused) override;
  void OnExecuted(uint64_t batch_size, uint64_t wait_ns, uint64_t execution_ns) override;
  void DropAll(const base::Status& error, std::vector<Refusal>* refused) override;
  size_t size() const override { return queue_.size(); }

  /// Nothing is given before these are met. Before the first request is pushed.
  void SetStartConditions(StartConditions conditions) { gate_ = StartGate(conditions); }
  void Drain(uint64_t now_ns, std::vector<Refusal>* refused) override;

  /// For whoever keeps the queue himself: Push where no level has a largest size, and says where
  /// the request waits; Withdraw takes it back from there.
  void PushUnbounded(RequestPtr request, uint64_t now_ns, const RequestQueue::Waiting** waiting);
  RequestPtr Withdraw(const RequestQueue::Waiting& waiting);

 private:
  /// What was collected from the front of the queue. Kept from one look to the next, which goes on
  /// behind `last`: so a long batch that fills up slowly is not looked at anew for each request.
  struct Prefix {
    const RequestQueue::Waiting* last = nullptr;
    size_t requests = 0;
    uint64_t size = 0;
    uint64_t limit = 0;            // of its size; 0 = not looked up yet
    uint64_t oldest_ns = kNever;   // arrival; not the first's, where levels differ
    uint64_t newest_ns = 0;        // arrival
    uint64_t must_go_ns = kNever;  // when the first of them would be refused, if that matters
    bool closed = false;           // something stands behind it that cannot join, or it is full
    BatchReason closed_reason = BatchReason::kFull;
    size_t best_requests = 0;  // the longest prefix of a preferred size, or, where the sizes jump
                               // over the largest preferred one, the longest below it; 0 = none
    BatchReason best_reason = BatchReason::kPreferred;
  };
  struct Choice {
    size_t requests = 0;  // how many to run now; 0: none before wake_ns
    BatchReason reason = BatchReason::kNoDelay;
    uint64_t wake_ns = kNever;
  };

  void Collect();
  /// Sets the limit of the prefix's size; a prefix that was collected under another one is
  /// forgotten.
  void SetLimit(uint64_t now_ns);
  Choice ChooseByLimits(uint64_t now_ns);
  /// Whether `next` joins the prefix; if not, the prefix is closed.
  bool MayJoin(const RequestQueue::Waiting& next);
  Choice Choose(uint64_t now_ns);
  Batch Take(size_t count, BatchReason reason, uint64_t now_ns);
  /// Refuses those of the first `count` requests that are cancelled; whether there are any.
  bool DropCancelledOfFirst(size_t count, std::vector<Refusal>* refused);
  bool IsPreferred(uint64_t size) const;
  /// Until when a batch with this request may be held back.
  uint64_t MustGoAt(const RequestQueue::Waiting& waiting) const;
  void Forget() { prefix_ = {}; }

  const uint64_t max_batch_size_;
  const uint64_t delay_ns_;
  const bool before_timeout_;
  std::vector<uint64_t> preferred_;
  uint64_t largest_preferred_ = 0;
  const BatchCompatibility compatibility_;
  const std::shared_ptr<BatchLimits> limits_;
  std::shared_ptr<BatchStrategy> strategy_;  // null for most models
  RequestQueue queue_;
  Prefix prefix_;
  StartGate gate_;
};

}  // namespace nereid::schedule
