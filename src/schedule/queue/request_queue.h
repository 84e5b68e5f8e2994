// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <vector>

#include "config/model_config.h"
#include "schedule/batch_planner.h"

namespace nereid::schedule {

/// The requests that wait for one model, in the order in which they are to be served: by priority
/// level, within a level by arrival, and behind those the ones that the level's policy has delayed.
/// Knows the queue policies: how many may wait, how long, and what happens then. Beside the policy,
/// the deadline of a request's client ends its wait. Everything but looking through the whole queue
/// (DropCancelled, DropAll) takes logarithmic time. Not thread-safe.
class RequestQueue {
 public:
  /// A waiting request. Addresses are stable until it leaves the queue.
  struct Waiting {
    RequestPtr request;
    uint64_t batch_size = 1;  // a request without a batch dimension counts one
    uint64_t arrival_ns = 0;
    uint64_t move_ns = kNever;       // when it is moved behind the others of its level
    uint64_t refuse_ns = kNever;     // when it is refused, whatever the reason
    bool refused_by_policy = false;  // refuse_ns is the policy's, not the client's deadline

    /// Whether it stands before `other`, or in the same line.
    bool SameLineOrBefore(const Waiting& other) const {
      return level != other.level ? level < other.level : !delayed || other.delayed;
    }

   private:
    friend class RequestQueue;
    uint64_t level = 0;
    bool delayed = false;
    uint64_t number = 0;  // of arrival: orders what expires at the same time
    std::list<Waiting>::iterator self;
  };

  /// One level without a policy.
  RequestQueue();
  /// Levels and policies as configured.
  explicit RequestQueue(const config::DynamicBatchingOptions& options);
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  /// Adds a request that arrived at `now_ns`. A priority of 0 or beyond the last level means the
  /// default level. UNAVAILABLE when the level's queue is full; the caller keeps the request then.
  /// `pushed`, if given, is set to where it waits.
  base::Status Push(RequestPtr& request, uint64_t now_ns, const Waiting** pushed = nullptr);

  size_t size() const { return size_; }
  /// The first to be served; null when nothing waits.
  const Waiting* First() const;
  /// The one behind `waiting`; null behind the last.
  const Waiting* After(const Waiting& waiting) const;
  /// Takes a request out.
  RequestPtr Take(const Waiting& waiting);

  /// Carries out what the policies and deadlines say for `now_ns`. Whether anything changed.
  bool Expire(uint64_t now_ns, std::vector<Refusal>* refused);
  uint64_t NextExpiry() const { return expiries_.empty() ? kNever : expiries_.begin()->ns; }

  /// Takes a cancelled request out.
  Refusal TakeCancelled(const Waiting& waiting);
  /// Takes all cancelled requests out. Whether there were any.
  bool DropCancelled(std::vector<Refusal>* refused);
  void DropAll(const base::Status& error, std::vector<Refusal>* refused);

 private:
  /// A configuration may have any number of levels: beyond this many, those without requests are
  /// forgotten.
  static constexpr size_t kKeptLevels = 64;

  using Line = std::list<Waiting>;
  struct Level {
    config::QueuePolicy policy;
    Line waiting;
    Line delayed;
    bool empty() const { return waiting.empty() && delayed.empty(); }
  };
  struct Expiry {
    uint64_t ns;
    uint64_t number;
    Waiting* waiting;
    bool operator<(const Expiry& other) const {
      return ns != other.ns ? ns < other.ns : number < other.number;
    }
  };

  uint64_t LevelOf(uint64_t priority) const;
  Level& FindOrAddLevel(uint64_t number);
  static void SetTimes(const config::QueuePolicy& policy, Waiting* waiting);
  void AddExpiry(Waiting& waiting);
  void RemoveExpiry(Waiting& waiting);
  static uint64_t ExpiryOf(const Waiting& waiting) {
    return waiting.move_ns < waiting.refuse_ns ? waiting.move_ns : waiting.refuse_ns;
  }

  const uint64_t level_count_;
  const uint64_t default_level_;
  const config::QueuePolicy default_policy_;
  const std::map<uint64_t, config::QueuePolicy> policies_;
  std::map<uint64_t, Level> levels_;  // in the order of service; some may be empty
  std::set<Expiry> expiries_;         // of every request that can expire
  Line spare_;                        // nodes for reuse
  size_t prune_at_ = kKeptLevels;
  size_t size_ = 0;
  uint64_t next_number_ = 0;
};

}  // namespace nereid::schedule
