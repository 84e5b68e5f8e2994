// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "request/response_factory.h"
#include "request/response_sink.h"

namespace nereid::request {

/// A sink that keeps the responses and the requests that it receives. Thread-safe.
class RecordingSink : public ResponseSink {
 public:
  void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept override {
    base::MutexLock lock(mutex_);
    if (response != nullptr) {
      errors_.push_back(response->error());
      responses_.push_back(std::move(response));
    }
    if (final) ++finals_;
    changed_.NotifyAll();
  }
  void RequestReleased(std::unique_ptr<InferenceRequest> request) noexcept override {
    base::MutexLock lock(mutex_);
    released_.push_back(std::move(request));
    changed_.NotifyAll();
  }

  /// Blocks until the request is answered and released.
  void WaitUntilDone(size_t requests = 1) {
    base::MutexLock lock(mutex_);
    while (finals_ < requests || released_.size() < requests) changed_.Wait(lock);
  }
  size_t finals() const {
    base::MutexLock lock(mutex_);
    return finals_;
  }
  size_t released() const {
    base::MutexLock lock(mutex_);
    return released_.size();
  }
  /// Returns the errors of the responses, in order; OK for a response without an error.
  std::vector<base::Status> errors() const {
    base::MutexLock lock(mutex_);
    return errors_;
  }
  /// Return the responses and the requests, in order. They are not locked: must be called only when
  /// nothing more will come.
  std::vector<std::unique_ptr<InferenceResponse>>& responses() NEREID_NO_THREAD_SAFETY_ANALYSIS {
    return responses_;
  }
  std::vector<std::unique_ptr<InferenceRequest>>& released_requests()
      NEREID_NO_THREAD_SAFETY_ANALYSIS {
    return released_;
  }

  /// Drops everything: a response holds its factory, which holds this sink.
  void Clear() {
    std::vector<std::unique_ptr<InferenceResponse>> responses;
    std::vector<std::unique_ptr<InferenceRequest>> released;
    base::MutexLock lock(mutex_);
    responses.swap(responses_);
    released.swap(released_);
  }

 private:
  mutable base::Mutex mutex_;
  base::ConditionVariable changed_;
  std::vector<std::unique_ptr<InferenceResponse>> responses_ NEREID_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<InferenceRequest>> released_ NEREID_GUARDED_BY(mutex_);
  std::vector<base::Status> errors_ NEREID_GUARDED_BY(mutex_);
  size_t finals_ NEREID_GUARDED_BY(mutex_) = 0;
};

}  // namespace nereid::request
