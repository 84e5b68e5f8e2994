// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "request/cancellation.h"
#include "request/inference_response.h"
#include "request/model_identity.h"
#include "request/response_sink.h"
#include "request/trace.h"

namespace nereid::request {

/// Makes and sends the responses of one request; outlives the request when the backend asks so.
/// Guards the promise of one final: when the last reference goes without a final having been
/// sent, an error is sent as the final response. Thread-safe: the sink gets the responses of a
/// decoupled model one after the other even if several threads send them at once. The one response
/// of other models has one sender.
class ResponseFactory : public std::enable_shared_from_this<ResponseFactory> {
 public:
  ResponseFactory(std::shared_ptr<ResponseSink> sink, std::shared_ptr<const ModelIdentity> model,
                  std::string id, std::shared_ptr<Cancellation> cancellation);
  ~ResponseFactory();

  base::Result<std::unique_ptr<InferenceResponse>> NewResponse();

  /// Hands a response to the sink. A response after the final one is dropped with a log line.
  void Send(std::unique_ptr<InferenceResponse> response, bool final);

  /// The final flag alone.
  void SendFinal();

  /// The one and final response is `error`.
  void SendError(base::Status error);

  /// Forgets the promise: the request was refused at submission, so no response will be sent.
  void Disarm() { final_sent_.store(true, std::memory_order_release); }

  /// Whether the last response is on its way.
  bool IsFinalSent() const { return final_sent_.load(std::memory_order_acquire); }

  /// Whether a response with an error was sent.
  bool HasFailed() const { return failed_.load(std::memory_order_acquire); }

  /// That the backend has given the request back. It matters when the backend then fails or throws:
  /// the requests that it has not given back are still the server's.
  void MarkReleased() { released_.store(true, std::memory_order_release); }
  bool IsReleased() const { return released_.load(std::memory_order_acquire); }
  /// That the backend has given it back to be executed once more, and that it has the request
  /// again.
  void MarkRescheduled() {
    rescheduled_.store(true, std::memory_order_release);
    MarkReleased();
  }
  void MarkHandedOut() {
    rescheduled_.store(false, std::memory_order_release);
    released_.store(false, std::memory_order_release);
  }
  bool IsRescheduled() const { return rescheduled_.load(std::memory_order_acquire); }

  /// 0, 1, …: which response of this request a report of response statistics is about.
  uint64_t NextStatisticsIndex() {
    return statistics_index_.fetch_add(1, std::memory_order_relaxed);
  }

  /// Puts a sink in front of the present one, which it must forward to. Only before the request is
  /// queued: no response exists yet, and no other thread knows the factory.
  void WrapSink(std::shared_ptr<ResponseSink> sink) { sink_ = std::move(sink); }
  const std::shared_ptr<ResponseSink>& shared_sink() const { return sink_; }

  /// Of the request; null for most. Kept for as long as responses can come.
  void SetTrace(std::shared_ptr<Trace> trace) { trace_ = std::move(trace); }
  Trace* trace() const { return trace_.get(); }

  bool IsCancelled() const { return cancellation_->IsCancelled(); }
  const ModelIdentity& model() const { return *model_; }
  const std::string& id() const { return id_; }
  ResponseSink& sink() { return *sink_; }

 private:
  struct Turns;

  void SendInTurn(std::unique_ptr<InferenceResponse> response, bool final);
  /// To the sink; notes a failure.
  void Deliver(std::unique_ptr<InferenceResponse> response, bool final);
  void LogDropped() const;

  std::shared_ptr<ResponseSink> sink_;
  std::shared_ptr<const ModelIdentity> model_;
  std::string id_;
  std::shared_ptr<Cancellation> cancellation_;
  std::shared_ptr<Trace> trace_;
  std::atomic<bool> final_sent_{false};
  std::atomic<bool> failed_{false};
  std::atomic<bool> released_{false};
  std::atomic<bool> rescheduled_{false};
  std::atomic<uint64_t> statistics_index_{0};
  const std::unique_ptr<Turns> turns_;  // null where the model is not decoupled
};

/// What the backend did to the sequence's states counts from now on, or after an error response
/// does not; the request loses the states and all that the server had added. A part of
/// ReleaseRequest, and of what a scheduler does with a request that is to be executed once more.
void SettleStates(InferenceRequest& request);

/// Takes a request back from its backend: what the backend did to the sequence's states counts from
/// now on (or, after an error response, does not), who listens is told, and the request goes back
/// to its sink. If the backend holds no other reference to the response factory and has not sent
/// the final response, the factory does.
void ReleaseRequest(std::unique_ptr<InferenceRequest> request);

/// Answers a request that will not be executed (any further): sends `error` as its final response,
/// unless it has had one, and releases it.
void RefuseRequest(std::unique_ptr<InferenceRequest> request, base::Status error);

}  // namespace nereid::request
