// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/byte_budget.h"
#include "codec/proto/infer_response.h"
#include "frontend/grpc/call_status.h"

namespace nereid::frontend::grpc {

class Call;

/// A result on its way to the call that waits for it.
struct Delivery {
  std::shared_ptr<Call> call;
  std::optional<codec::proto::EncodedMessage> message;
  base::ByteShare waiting;           // streams: the message's size
  std::optional<CallStatus> status;  // how something ended; the call knows what
  uint64_t request = 0;              // streams: which of the call's requests
  bool final = false;                // streams: that request has no more responses
  std::function<void()> back;        // instead of all that: the call returns from a detour
};

/// Results that other threads leave for an event loop. Outlives the loop: a plug-in may send when
/// the server is gone. Thread-safe.
class LoopInbox {
 public:
  /// `wake` is called when the first delivery arrives after a Take(): once for many deliveries.
  explicit LoopInbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  void Put(Delivery delivery) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    deliveries_.push_back(std::move(delivery));
    if (deliveries_.size() > 1) return;
    try {
      wake_();
    } catch (...) {
      deliveries_.pop_back();  // else nobody would be woken any more
      throw;
    }
  }

  /// Swaps what is there with the empty `deliveries`.
  void Take(std::vector<Delivery>* deliveries) {
    const std::lock_guard lock(mutex_);
    deliveries->swap(deliveries_);
  }

  /// Drops everything from now on; `wake` is never called again.
  void Close() {
    std::vector<Delivery> dropped;
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(deliveries_);
  }

 private:
  std::mutex mutex_;
  std::function<void()> wake_;
  std::vector<Delivery> deliveries_;  // guarded by mutex_
  bool closed_ = false;               // guarded by mutex_
};

}  // namespace nereid::frontend::grpc
