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

/// The requests that wait for one model, in the order of service: by priority level, within a level
/// by arrival, and after those the requests that the level's policy has delayed. The queue applies
/// the queue policies (maximum size, timeout, timeout action) and the deadlines of clients.
/// Operations take logarithmic time, except DropCancelled and DropAll, which read the whole queue.
/// A function that throws std::bad_alloc has lost no request: each is in the queue, in `refused`,
/// or (Push) with the caller. Not thread-safe.
class RequestQueue {
 public:
  /// A waiting request. Its address is stable until the request leaves the queue.
  struct Waiting {
    RequestPtr request;
    uint64_t batch_size = 1;  // a request without a batch dimension counts as 1
    uint64_t arrival_ns = 0;
    uint64_t move_ns = kNever;       // when it is moved behind the others of its level
    uint64_t refuse_ns = kNever;     // when it is refused, for any reason
    bool refused_by_policy = false;  // refuse_ns comes from the policy, not the client's deadline

    /// Returns whether this request is served before `other` or is in the same list as `other`.
    bool InSameListOrBefore(const Waiting& other) const {
      return level != other.level ? level < other.level : !delayed || other.delayed;
    }

   private:
    friend class RequestQueue;
    uint64_t level = 0;
    bool delayed = false;
    uint64_t number = 0;  // in order of arrival: orders requests that expire at the same time
    std::list<Waiting>::iterator self;
  };

  /// Creates a queue with one level and no policy.
  RequestQueue();
  /// Creates a queue with the configured levels and policies.
  explicit RequestQueue(const config::DynamicBatchingOptions& options);
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  /// Adds a request that arrived at `now_ns`. Priority 0 and priorities beyond the last level mean
  /// the default level. Returns UNAVAILABLE when the level's queue is full; the caller then keeps
  /// the request. If `pushed` is not null, it is set to the waiting request.
  base::Status Push(RequestPtr& request, uint64_t now_ns, const Waiting** pushed = nullptr);

  size_t size() const { return size_; }
  /// Returns the request that is served first, or null if the queue is empty.
  const Waiting* First() const;
  /// Returns the request served after `waiting`, or null if there is none.
  const Waiting* After(const Waiting& waiting) const;
  /// Removes a request from the queue and returns it.
  RequestPtr Take(const Waiting& waiting);

  /// Removes the request that is served first and returns it; null if the queue is empty.
  RequestPtr TakeFirst();

  /// Moves or refuses the requests whose time has come by `now_ns`.
  void Expire(uint64_t now_ns, std::vector<Refusal>* refused);
  uint64_t NextExpiry() const { return expiries_.empty() ? kNever : expiries_.begin()->ns; }

  /// Moves a cancelled request to `refused`.
  void RefuseCancelled(const Waiting& waiting, std::vector<Refusal>* refused);
  /// Moves all cancelled requests to `refused`.
  void DropCancelled(std::vector<Refusal>* refused);
  /// Moves all requests to `refused`, each with `error` prefixed by the request's id.
  void DropAll(const base::Status& error, std::vector<Refusal>* refused);

 private:
  /// A configuration may have any number of levels. When levels_ has this many, levels without
  /// requests are removed from it.
  static constexpr size_t kMinPrunedLevels = 64;

  using Requests = std::list<Waiting>;
  struct Level {
    config::QueuePolicy policy;
    Requests waiting;
    Requests delayed;
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
  static void SetTimes(const config::QueuePolicy& policy, const request::InferenceRequest& request,
                       Waiting* waiting);
  /// Moves a request to `refused`, with the error and the reason of `refusal`.
  void Refuse(const Waiting& waiting, Refusal refusal, std::vector<Refusal>* refused);
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
  std::set<Expiry> expiries_;         // one entry for each request that can expire
  Requests spare_;                    // list nodes for reuse
  size_t prune_at_ = kMinPrunedLevels;
  size_t size_ = 0;
  uint64_t next_number_ = 0;
};

}  // namespace nereid::schedule
