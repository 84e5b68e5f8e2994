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
  void Disarm() { Record(kFinalSent); }

  /// Returns whether the final response was passed to Send, or Disarm was called.
  bool IsFinalSent() const { return (sent_.load(std::memory_order_acquire) & kFinalSent) != 0; }

  /// Returns whether `factory` is the last reference to a factory that has sent no final response:
  /// then nobody can send one, and the factory will send its error. For the owner of the request.
  static bool IsAbandoned(const std::shared_ptr<ResponseFactory>& factory) {
    // The count comes first, because a sender drops its reference after the final response.
    // fetch_or reads what that sender has recorded, which a load might miss.
    return factory.use_count() == 1 &&
           (factory->sent_.fetch_or(0, std::memory_order_acq_rel) & kFinalSent) == 0;
  }

  /// Returns whether a response with an error was passed to Send.
  bool HasFailed() const { return (sent_.load(std::memory_order_acquire) & kErrorSent) != 0; }

  /// Where the request is, from the point of view of the backend. Transitions:
  ///
  ///     kHandedOut   → kReleased     the backend, or the server for it, has finished with it
  ///     kHandedOut   → kRescheduled  the backend wants it executed once more; it is queued again
  ///     kRescheduled → kHandedOut    an instance gets it for the next execution
  ///     kRescheduled → kReleased     it is refused while it waits for that
  ///
  /// A request that no backend has had yet counts as kHandedOut. Only the owner of the request
  /// makes a transition. If Execute fails or throws, its request may have another owner already, so
  /// the server asks CustodySince before it touches the request or answers it.
  enum class Custody : uint32_t { kHandedOut, kReleased, kRescheduled };

  /// Records that the backend has the request (again). After a rescheduling the next execution
  /// begins.
  void MarkHandedOut() {
    const uint32_t now = custody_.load(std::memory_order_relaxed);
    if (CustodyOf(now) != Custody::kRescheduled) return;
    SetCustody(Custody::kHandedOut, ExecutionOf(now) + 1);
  }
  /// Records that the backend has released the request.
  void MarkReleased() { SetCustody(Custody::kReleased, execution()); }
  /// Records that the backend has released the request to be executed once more.
  void MarkRescheduled() { SetCustody(Custody::kRescheduled, execution()); }

  /// Returns 0, 1, …: which execution of the request this is, or the one that has just ended. Only
  /// the owner of the request may call it.
  uint32_t execution() const { return ExecutionOf(custody_.load(std::memory_order_relaxed)); }
  /// Returns where the request is, for the execution with this number: kRescheduled also if a later
  /// execution has it or has released it. Any thread may call it.
  Custody CustodySince(uint32_t execution) const {
    const uint32_t now = custody_.load(std::memory_order_acquire);
    return ExecutionOf(now) == execution ? CustodyOf(now) : Custody::kRescheduled;
  }

  /// Returns 0, 1, …: the index of the response in the response statistics.
  uint64_t NextStatisticsIndex() {
    return statistics_index_.fetch_add(1, std::memory_order_relaxed);
  }

  /// Replaces the sink by one that must forward to the present one. Must be called before the
  /// request is queued: no response exists and no other thread knows the factory.
  void WrapSink(std::shared_ptr<ResponseSink> sink) { sink_ = std::move(sink); }

  bool IsCancelled() const { return cancellation_->IsCancelled(); }

 private:
  struct Turns;

  // Two independent states, each one atomic, because different threads change them: `sent_` the
  // threads that send responses, `custody_` the owner of the request.

  /// What was passed to Send, as bits that are only ever set:
  ///
  ///     nothing ──error, not final──▶ kErrorSent
  ///        │                              │
  ///      final                          final
  ///        ▼                              ▼
  ///     kFinalSent ─────error────▶ kErrorSent | kFinalSent
  ///
  /// After kFinalSent every response is dropped; an error among them still sets kErrorSent, so the
  /// states of a sequence are discarded (SettleStates).
  enum Sent : uint32_t { kErrorSent = 1, kFinalSent = 2 };

  // `custody_` holds the custody in its two lowest bits and the execution above them.
  static Custody CustodyOf(uint32_t word) { return static_cast<Custody>(word & 3); }
  static uint32_t ExecutionOf(uint32_t word) { return word >> 2; }
  void SetCustody(Custody custody, uint32_t execution) {
    custody_.store(execution << 2 | static_cast<uint32_t>(custody), std::memory_order_release);
  }
  /// Sets a bit of `sent_`. Returns whether it was set before.
  bool Record(Sent bit) { return (sent_.fetch_or(bit, std::memory_order_acq_rel) & bit) != 0; }
  /// Sends a response of a decoupled model; see Turns.
  void SendInTurn(std::unique_ptr<InferenceResponse> response, bool final);
  void LogDropped() const;

  std::shared_ptr<Cancellation> cancellation_;
  std::atomic<uint32_t> sent_{0};  // bits of Sent
  std::atomic<uint32_t> custody_{0};
  std::atomic<uint64_t> statistics_index_{0};
  const std::unique_ptr<Turns> turns_;  // null if the model is not decoupled
};

}  // namespace nereid::request
