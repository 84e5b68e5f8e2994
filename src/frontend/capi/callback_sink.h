// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "request/response_sink.h"
#include "triton/core/tritonserver.h"

namespace nereid::frontend::capi {

/// The callbacks of a request of the C API. NULL until set.
struct Callbacks {
  TRITONSERVER_InferenceRequestReleaseFn_t release_fn = nullptr;
  void* release_userp = nullptr;
  TRITONSERVER_ResponseAllocator* allocator = nullptr;  // the caller's
  void* allocator_userp = nullptr;
  TRITONSERVER_InferenceResponseCompleteFn_t response_fn = nullptr;
  void* response_userp = nullptr;
};

/// The sink of every request that the C API makes: turns the calls of the core into calls of C
/// functions, and records whether the caller or the server owns the request. The callbacks never
/// change: a request whose callbacks are set again gets a new sink, because responses of its last
/// submission may still come.
class CallbackSink final : public request::ResponseSink {
 public:
  CallbackSink() = default;
  /// Creates a sink for the same request, which must not be in flight.
  CallbackSink(const CallbackSink& other, const Callbacks& callbacks)
      : callbacks_(callbacks), was_submitted_(other.was_submitted_) {}

  const Callbacks& callbacks() const { return callbacks_; }

  /// Returns whether the server owns the request. May be called on any thread.
  bool in_flight() const { return in_flight_.load(std::memory_order_acquire); }

  /// Prepares the request for the service and marks it as in flight. Returns INVALID_ARGUMENT if a
  /// callback is missing, which the message names, or if the request is in flight already.
  base::Status BeginSubmission(request::InferenceRequest& request);

  /// Returns the request to its sender, as it was before BeginSubmission.
  void EndSubmission(request::InferenceRequest& request);

  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override;
  void RequestReleased(std::unique_ptr<request::InferenceRequest> request) noexcept override;
  base::Status ResponseStarted() noexcept override;
  base::Status AllocateOutput(request::Output* output, size_t size) noexcept override;
  base::Status LendOutput(request::Output* output, request::LentBytes bytes) noexcept override;
  void ReleaseOutput(request::Output* output) noexcept override;
  base::Status QueryOutput(std::string_view name, size_t* size, memory::MemoryType* type,
                           int64_t* id) noexcept override;

 private:
  /// The one input of a raw request, which the core replaces by the model's input.
  struct RawInput {
    std::string name;
    std::vector<request::InputPiece> pieces;
  };

  /// Lets the caller's allocator complete the attributes of a buffer, if it wants to.
  base::Status CompleteAttributes(request::Output* output, size_t size);
  /// Returns the buffer of an output to the caller's allocator. Logs an error of the allocator.
  void ReleaseBuffer(const request::Output& output, size_t size) const;

  const Callbacks callbacks_{};
  std::atomic<bool> in_flight_{false};
  // The members below are used by the owner of the request only.
  bool was_submitted_ = false;
  bool wants_all_outputs_ = false;  // the caller names no output; the core fills in the list
  std::optional<RawInput> raw_input_;
};

/// Returns the sink of a request that the C API made.
CallbackSink& SinkOf(request::InferenceRequest& request);

}  // namespace nereid::frontend::capi
