// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/log_throttle.h"
#include "cache/cache_observer.h"
#include "cache/digest.h"
#include "cache/response_cache.h"
#include "request/inference_response.h"
#include "schedule/request_target.h"

namespace nereid::cache {

/// One model's use of the server's response cache: stands in front of the model's scheduler.
/// Requests that were answered before are answered from the cache; the answers of the others are
/// stored on their way to the client. What goes wrong with the cache is logged and is a miss: it
/// never becomes a request's failure. Thread-safe.
class ModelCache {
 public:
  /// `fingerprint` stands for the model's content, see FingerprintModel. Everything must outlive
  /// this, and this every request that it was given.
  ModelCache(ResponseCache& cache, const Digest& fingerprint, const base::Clock& clock,
             CacheObserver& observer)
      : cache_(cache), fingerprint_(fingerprint), clock_(clock), observer_(observer) {}

  /// Takes a normalised request, answers it or passes it on to `target`; see
  /// schedule::RequestTarget::Enqueue. The look-up is made here where that takes no time worth a
  /// hand-over, else on a thread of the cache: a refusal by the scheduler is then the request's
  /// answer, not the call's.
  base::Status Enqueue(schedule::RequestPtr& request, schedule::RequestTarget& target);

  /// Requests that wait for their look-up.
  size_t PendingCount() const { return pending_.load(std::memory_order_relaxed); }

 private:
  friend class CachingSink;
  struct Waiting {
    schedule::RequestPtr request;
    schedule::RequestTarget* target = nullptr;
    bool look_up = true;
  };

  bool LooksUpHere(const request::InferenceRequest& request,
                   const schedule::RequestTarget& target) const;
  /// Hands the request to a thread of the cache; false if too many wait.
  bool LookUpElsewhere(schedule::RequestPtr& request, schedule::RequestTarget& target);
  void LookUpInOrder(schedule::RequestPtr request, schedule::RequestTarget& target);
  void ServeInOrder(bool look_up);
  void ServeAccepted(Waiting waiting);

  /// Looks up, answers or enqueues.
  base::Status Serve(schedule::RequestPtr& request, schedule::RequestTarget& target);
  /// The stored response as a response to `request`; null for a miss.
  std::unique_ptr<request::InferenceResponse> LookUp(const request::InferenceRequest& request,
                                                     const Digest& digest);
  /// `model` keeps this object while the insertion waits for a thread.
  void Store(const request::InferenceResponse& response,
             const std::shared_ptr<const request::ModelIdentity>& model, const Digest& digest,
             uint64_t lookup_ns);
  void Insert(const Digest& digest, size_t size, uint64_t lookup_ns,
              const std::function<base::Status(std::span<char>)>& write);
  void LogFailure(const std::string& text);

  ResponseCache& cache_;
  const Digest fingerprint_;
  const base::Clock& clock_;
  CacheObserver& observer_;
  base::LogThrottle throttle_;
  std::atomic<size_t> pending_{0};

  // Requests of a model that promises the order of its responses, while the cache is a slow one:
  // looked up one after the other, so that none overtakes another before its place is reserved.
  std::mutex order_mutex_;
  std::deque<Waiting> in_order_;  // guarded by order_mutex_
  bool serving_ = false;          // guarded by order_mutex_: a thread is in ServeInOrder
};

}  // namespace nereid::cache
