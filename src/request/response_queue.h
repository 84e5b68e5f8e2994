// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "request/inference_response.h"

namespace nereid::request {

/// The responses of one request that wait to be sent, in order. Takes no memory, because a response
/// has the link to the next one: a response that waits cannot be lost. Not thread-safe.
class ResponseQueue {
 public:
  /// What ResponseSink::Send gets: a response, or null with the final flag alone.
  struct Event {
    std::unique_ptr<InferenceResponse> response;
    bool final = false;
  };

  ResponseQueue() = default;
  ~ResponseQueue();
  ResponseQueue(const ResponseQueue&) = delete;
  ResponseQueue& operator=(const ResponseQueue&) = delete;

  /// Adds an event behind the others. Nothing may follow the final one. An event without a response
  /// and without the flag says nothing, and is left out.
  void Push(Event event) noexcept;
  /// Takes the first event. The queue must not be empty.
  Event Pop() noexcept;
  bool empty() const { return first_ == nullptr && final_ != Final::kAlone; }
  /// Returns the number of responses.
  size_t size() const { return size_; }

 private:
  enum class Final : uint8_t { kNone, kWithLast, kAlone };

  std::unique_ptr<InferenceResponse> first_;
  InferenceResponse* last_ = nullptr;
  size_t size_ = 0;
  Final final_ = Final::kNone;
};

}  // namespace nereid::request
