// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/log_throttle.h"
#include "base/mutex.h"
#include "cache/cache_observer.h"
#include "cache/caching_sink.h"
#include "cache/digest.h"
#include "cache/response_cache.h"
#include "request/inference_response.h"
#include "schedule/request_target.h"

namespace nereid::cache {

/// One model's use of the server's response cache; stands in front of the model's scheduler.
/// Answers requests from the cache where it can, and stores the responses to the others on their
/// way to the client. A failure of the cache is logged and counts as a miss; it never fails a
/// request. Thread-safe.
class ModelCache final : private MissedResponses {
 public:
  using Target = std::shared_ptr<schedule::RequestTarget>;

  /// The arguments must outlive this object, which must outlive every request that it was given.
  ModelCache(ResponseCache& cache, const base::Clock& clock, CacheObserver& observer)
      : cache_(cache), clock_(clock), observer_(observer) {}

  /// Takes a normalized request and answers it or passes it to `target`; see
  /// schedule::RequestTarget::Enqueue. `fingerprint` identifies the content of what `target`
  /// answers with, see FingerprintModel. The look-up runs on the calling thread if that is short,
  /// else on a thread of the cache. In the latter case a refusal by `target` is sent to the client
  /// instead of being returned.
  base::Status Enqueue(schedule::RequestPtr& request, const Digest& fingerprint,
                       const Target& target);

  /// Returns the number of requests that wait for their look-up.
  size_t PendingCount() const { return pending_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    schedule::RequestPtr request;
    Digest fingerprint;
    Target target;
    bool look_up = true;
  };

  /// Returns whether the look-up may run on the calling thread.
  bool LooksUpHere(const request::InferenceRequest& request,
                   const schedule::RequestTarget& target) const;
  /// Passes the request to a thread of the cache. Returns false if too many requests wait there.
  bool LookUpElsewhere(schedule::RequestPtr& request, const Digest& fingerprint,
                       const Target& target);
  /// Queues a request of a model with ordered responses; see in_order_.
  void LookUpInOrder(schedule::RequestPtr request, const Digest& fingerprint, const Target& target);
  /// Serves in_order_ until it is empty. Without `look_up` the requests go to the model directly.
  void ServeInOrder(bool look_up);
  /// Serves a request that Enqueue has accepted: a failure is sent to its client.
  void ServeAccepted(Waiting waiting);

  /// Looks the request up, then answers it or enqueues it.
  base::Status Serve(schedule::RequestPtr& request, const Digest& fingerprint,
                     schedule::RequestTarget& target);
  /// Returns the stored response as a response to `request`; null for a miss.
  std::unique_ptr<request::InferenceResponse> LookUp(const request::InferenceRequest& request,
                                                     const Digest& digest);
  void Store(const request::InferenceResponse& response,
             const std::shared_ptr<const request::ModelIdentity>& model, const Digest& digest,
             uint64_t lookup_ns) override;
  void CountMiss(uint64_t lookup_ns) override { observer_.OnMiss(lookup_ns); }
  void Insert(const Digest& digest, size_t size, uint64_t lookup_ns,
              const std::function<base::Status(std::span<char>)>& write);
  void LogFailure(const std::string& text);

  ResponseCache& cache_;
  const base::Clock& clock_;
  CacheObserver& observer_;
  base::LogThrottle throttle_;
  std::atomic<size_t> pending_{0};

  base::Mutex order_mutex_;
  /// Requests of a model with ordered responses, while the cache blocks. They are looked up one at
  /// a time: a request must have its place in the ResponseOrder before the next one reserves its
  /// own.
  std::deque<Waiting> in_order_ NEREID_GUARDED_BY(order_mutex_);
  bool serving_ NEREID_GUARDED_BY(order_mutex_) = false;  // a thread is in ServeInOrder
};

}  // namespace nereid::cache
