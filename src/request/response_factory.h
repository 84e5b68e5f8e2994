// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "request/cancellation.h"
#include "request/inference_response.h"
#include "request/model_identity.h"
#include "request/response_origin.h"
#include "request/response_sink.h"
#include "request/trace.h"

namespace nereid::request {

/// Creates and sends the responses of one request. Backends may keep it longer than the request.
/// Guarantees exactly one final response: if the last reference is dropped before a final response
/// was sent, it sends an error as the final response. Thread-safe. For a decoupled model, the sink
/// receives the responses one at a time even if several threads send them. Other models send one
/// response from one thread.
class ResponseFactory final : public ResponseOrigin,
                              public std::enable_shared_from_this<ResponseFactory> {
 public:
  ResponseFactory(std::shared_ptr<ResponseSink> sink, std::shared_ptr<const ModelIdentity> model,
                  std::string id, std::shared_ptr<Cancellation> cancellation);
  ~ResponseFactory();

  /// Returns the factory that created `response`.
  static std::shared_ptr<ResponseFactory> Of(const InferenceResponse& response) {
    return std::static_pointer_cast<ResponseFactory>(response.origin());
  }

  /// Creates a response. Returns the error of ResponseSink::ResponseStarted.
  base::Result<std::unique_ptr<InferenceResponse>> NewResponse();

  /// Passes a response to the sink. Drops a response that follows the final one and logs that.
  void Send(std::unique_ptr<InferenceResponse> response, bool final);

  /// Sends the final flag without a response.
  void SendFinal();

  /// Sends `error` as the only and final response.
  void SendError(base::Status error);

  /// Gives up the guarantee, because the request was refused at submission and gets no response.
  void Disarm() { final_sent_.store(true, std::memory_order_release); }

  /// Returns whether the final response was passed to Send.
  bool IsFinalSent() const { return final_sent_.load(std::memory_order_acquire); }

  /// Returns whether a response with an error was sent.
  bool HasFailed() const { return failed_.load(std::memory_order_acquire); }

  /// Records that the backend has released the request. If the backend then fails or throws, the
  /// server answers only the requests that were not released.
  void MarkReleased() { released_.store(true, std::memory_order_release); }
  bool IsReleased() const { return released_.load(std::memory_order_acquire); }
  /// Records that the backend has released the request to be executed once more.
  void MarkRescheduled() {
    rescheduled_.store(true, std::memory_order_release);
    MarkReleased();
  }
  /// Records that the backend has the request (again).
  void MarkHandedOut() {
    rescheduled_.store(false, std::memory_order_release);
    released_.store(false, std::memory_order_release);
  }
  bool IsRescheduled() const { return rescheduled_.load(std::memory_order_acquire); }

  /// Returns 0, 1, …: the index of the response in the response statistics.
  uint64_t NextStatisticsIndex() {
    return statistics_index_.fetch_add(1, std::memory_order_relaxed);
  }

  /// Replaces the sink by one that must forward to the present one. Must be called before the
  /// request is queued: no response exists and no other thread knows the factory.
  void WrapSink(std::shared_ptr<ResponseSink> sink) { sink_ = std::move(sink); }

  /// Sets the request's trace; null for most requests. Kept as long as responses may come.
  void SetTrace(std::shared_ptr<Trace> trace) { trace_ = std::move(trace); }
  Trace* trace() const { return trace_.get(); }

  bool IsCancelled() const { return cancellation_->IsCancelled(); }

 private:
  struct Turns;

  /// Sends a response of a decoupled model; see Turns.
  void SendInTurn(std::unique_ptr<InferenceResponse> response, bool final);
  /// Passes a response to the trace and the sink.
  void Deliver(std::unique_ptr<InferenceResponse> response, bool final);
  void LogDropped() const;

  std::shared_ptr<Cancellation> cancellation_;
  std::shared_ptr<Trace> trace_;
  std::atomic<bool> final_sent_{false};
  std::atomic<bool> failed_{false};
  std::atomic<bool> released_{false};
  std::atomic<bool> rescheduled_{false};
  std::atomic<uint64_t> statistics_index_{0};
  const std::unique_ptr<Turns> turns_;  // null if the model is not decoupled
};

}  // namespace nereid::request
