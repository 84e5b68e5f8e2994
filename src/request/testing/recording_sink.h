// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "request/response_factory.h"
#include "request/response_sink.h"

namespace nereid::request {

/// A sink that keeps what it gets. Thread-safe.
class RecordingSink : public ResponseSink {
 public:
  void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept override {
    std::lock_guard lock(mutex_);
    if (response != nullptr) {
      errors_.push_back(response->error());
      responses_.push_back(std::move(response));
    }
    if (final) ++finals_;
    changed_.notify_all();
  }
  void RequestReleased(std::unique_ptr<InferenceRequest> request) noexcept override {
    std::lock_guard lock(mutex_);
    released_.push_back(std::move(request));
    changed_.notify_all();
  }

  /// Blocks until the request is answered and released.
  void WaitUntilDone(size_t requests = 1) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return finals_ >= requests && released_.size() >= requests; });
  }
  size_t finals() const {
    std::lock_guard lock(mutex_);
    return finals_;
  }
  size_t released() const {
    std::lock_guard lock(mutex_);
    return released_.size();
  }
  /// The failures of the responses, in order; success for a good response.
  std::vector<base::Status> errors() const {
    std::lock_guard lock(mutex_);
    return errors_;
  }
  /// The responses, in order. Only when nothing more will come.
  std::vector<std::unique_ptr<InferenceResponse>>& responses() { return responses_; }
  std::vector<std::unique_ptr<InferenceRequest>>& released_requests() { return released_; }

  /// Breaks the circle of a response that holds its factory, which holds the sink.
  void Clear() {
    std::vector<std::unique_ptr<InferenceResponse>> responses;
    std::vector<std::unique_ptr<InferenceRequest>> released;
    std::lock_guard lock(mutex_);
    responses.swap(responses_);
    released.swap(released_);
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<InferenceResponse>> responses_;  // guarded by mutex_
  std::vector<std::unique_ptr<InferenceRequest>> released_;    // guarded by mutex_
  std::vector<base::Status> errors_;                           // guarded by mutex_
  size_t finals_ = 0;                                          // guarded by mutex_
};

}  // namespace nereid::request
