// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "request/response_sink.h"
#include "triton/core/tritonserver.h"

namespace nereid::frontend_capi {

/// Whom a request of the C API answers. NULL until set.
struct Callbacks {
  TRITONSERVER_InferenceRequestReleaseFn_t release_fn = nullptr;
  void* release_userp = nullptr;
  TRITONSERVER_ResponseAllocator* allocator = nullptr;  // the caller's
  void* allocator_userp = nullptr;
  TRITONSERVER_InferenceResponseCompleteFn_t response_fn = nullptr;
  void* response_userp = nullptr;
};

/// The sink of every request that the C API makes: turns what the core says into calls of C
/// functions, and keeps track of who owns the request. The callbacks never change: a request whose
/// callbacks are set anew gets a new sink, since responses of its last submission may still come.
class CallbackSink final : public request::ResponseSink {
 public:
  CallbackSink() = default;
  /// A sink for the same request, which must not be in flight.
  CallbackSink(const CallbackSink& other, const Callbacks& callbacks)
      : callbacks_(callbacks), was_submitted_(other.was_submitted_) {}

  const Callbacks& callbacks() const { return callbacks_; }

  /// Whether the server owns the request. Any thread.
  bool in_flight() const { return in_flight_.load(std::memory_order_acquire); }

  /// INVALID_ARGUMENT naming the callback that is missing, or if the request is in flight. On
  /// success the request is ready to be given to the service.
  base::Status BeginSubmission(request::InferenceRequest& request);

  /// The request is its sender's again, as it was before BeginSubmission.
  void EndSubmission(request::InferenceRequest& request);

  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override;
  void RequestReleased(std::unique_ptr<request::InferenceRequest> request) noexcept override;
  base::Status ResponseStarted() noexcept override;
  base::Status AllocateOutput(request::Output* output, size_t size) noexcept override;
  base::Status LendOutput(request::Output* output, char* data, size_t size,
                          std::shared_ptr<const void> owner) noexcept override;
  void ReleaseOutput(request::Output* output) noexcept override;
  base::Status QueryOutput(std::string_view name, size_t* size, memory::MemoryType* type,
                           int64_t* id) noexcept override;

 private:
  /// The one input of a raw request; the core replaces it by the model's.
  struct RawInput {
    std::string name;
    std::vector<request::InputPiece> pieces;
  };

  base::Status CompleteAttributes(request::Output* output, size_t size);
  void GiveBack(const request::Output& output, size_t size) const;

  const Callbacks callbacks_{};
  std::atomic<bool> in_flight_{false};
  // The rest belongs to whoever owns the request.
  bool was_submitted_ = false;
  bool wants_all_outputs_ = false;  // names none; the core fills in the list
  std::optional<RawInput> raw_input_;
};

/// The sink of a request that the C API made.
CallbackSink& SinkOf(request::InferenceRequest& request);

}  // namespace nereid::frontend_capi
