// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "handover/messages.h"
#include "request/inference_request.h"

namespace nereid::handover {

/// The requests that wait until their sequence has been fetched from another server, by sequence,
/// in the order of their arrival. Thread-safe; nothing is called with the lock held.
class WaitingRequests {
 public:
  using RequestPtr = std::unique_ptr<request::InferenceRequest>;
  struct Waiting {
    RequestPtr request;
    int origin = 0;  // the caller's, returned with the request
  };
  using ResumeRequest = std::function<void(Waiting waiting)>;
  /// Requests that wait, and sequences for which some do, at the same time.
  static constexpr size_t kMaxRequests = 4096;
  static constexpr size_t kMaxSequences = 1024;

  enum class Entry {
    kFirst,   // nothing waited for the sequence: the caller has it fetched and calls Resume
    kJoined,  // it waits with others of its sequence
    kAlone,   // it does not wait, because no other request of its sequence does (Join)
    kFull,    // it does not wait, because too many others do
  };

  /// Lets the request wait if others of its sequence do: it must not overtake them. `request` is
  /// taken if the result is kJoined. May throw std::bad_alloc; `request` is the caller's then.
  Entry Join(const SequenceKey& key, RequestPtr& request, int origin) {
    return IsEmpty() ? Entry::kAlone : Add(key, request, origin, /*may_begin=*/false);
  }
  /// Lets the request wait, which may be null: then only the sequence is wanted. `request` is taken
  /// if the result is kFirst or kJoined.
  Entry Enter(const SequenceKey& key, RequestPtr& request, int origin) {
    return Add(key, request, origin, /*may_begin=*/true);
  }
  /// Resumes the requests that wait for the sequence, in order. Requests that arrive meanwhile
  /// wait: they must not overtake these. Returns true if there are none; nothing waits for the
  /// sequence then. Returns false if there are some. As soon as a resumed request is answered, the
  /// sequence may leave for another server, so the caller has it fetched again before it calls
  /// Resume again.
  bool Resume(const SequenceKey& key, const ResumeRequest& resume);
  /// Returns the sequences for which something waits.
  std::vector<SequenceKey> Sequences() const;
  /// Returns whether the sequence has an entry: it is being fetched, or its requests are being
  /// resumed.
  bool Has(const SequenceKey& key) const;
  /// Costs one atomic load.
  bool IsEmpty() const { return sequences_.load(std::memory_order_acquire) == 0; }

 private:
  Entry Add(const SequenceKey& key, RequestPtr& request, int origin, bool may_begin);

  mutable base::Mutex mutex_;
  std::map<SequenceKey, std::vector<Waiting>> waiting_ NEREID_GUARDED_BY(mutex_);
  size_t requests_ NEREID_GUARDED_BY(mutex_) = 0;
  std::atomic<size_t> sequences_{0};
};

}  // namespace nereid::handover
