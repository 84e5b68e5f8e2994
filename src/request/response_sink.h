// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/status.h"
#include "memory/memory_type.h"
#include "request/inference_request.h"
#include "request/output.h"

namespace nereid::request {

class InferenceResponse;

/// The destination of the responses of one request; implemented by each front end. The core keeps
/// it alive until the final response is sent, the request is released and every response is
/// destroyed.
///
/// Threads: any thread may call the functions, including the submitting thread before the
/// submission returns. For one request there are no two calls at a time, except RequestReleased.
/// The caller holds no lock. The functions must not block and must not call the core, except to
/// submit another request (the next step of an ensemble).
///
/// Exceptions: LendOutput and Send may wait for a copy from or to a GPU; see
/// InferenceRequest::has_gpu_memory for why that is no event loop's wait. Send may hold up a thread
/// that sends responses of a decoupled model faster than its client reads them, if that thread may
/// block (base::ThreadMayBlock), for a few seconds at most, and not after the client has gone.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;

  /// Receives one response, or null with the final flag alone. Exactly one call per accepted
  /// request has `final`, and it is the last one. A request of a model that is not decoupled gets
  /// exactly one response, perhaps with an error. A backend that breaks the rules may send none or
  /// several, which an implementation must survive.
  virtual void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept = 0;

  /// Receives the request when the core needs neither it nor the memory of its inputs any more. May
  /// come before or after the responses. The default destroys the request.
  virtual void RequestReleased(std::unique_ptr<InferenceRequest> request) noexcept;

  /// Called when a response object is created. An error prevents the response.
  virtual base::Status ResponseStarted() noexcept { return base::Status::Ok(); }

  /// Provides memory for `size` bytes of `output`: sets data, memory_type and memory_type_id, which
  /// hold the preferred memory on entry. The default allocates host memory that the output owns.
  virtual base::Status AllocateOutput(Output* output, size_t size) noexcept;

  /// Uses existing bytes as the output's content, instead of AllocateOutput. The default refers to
  /// bytes in host memory, and copies those in GPU memory, and those that may change, to memory of
  /// the output; a sink with memory of its own copies all.
  virtual base::Status LendOutput(Output* output, LentBytes bytes) noexcept;

  /// Called once for each output that AllocateOutput or LendOutput served, when its response is
  /// destroyed.
  virtual void ReleaseOutput(Output* output) noexcept;

  /// Returns which memory AllocateOutput would provide; UNAVAILABLE if the sink cannot tell. `type`
  /// and `id` are the preferred memory on entry and the answer on return. `name` may be empty and
  /// `size` null when not known.
  virtual base::Status QueryOutput(std::string_view name, size_t* size, memory::MemoryType* type,
                                   int64_t* id) noexcept;

 protected:
  /// Makes the output refer to bytes in host memory.
  static base::Status Refer(Output* output, LentBytes bytes) noexcept;
};

}  // namespace nereid::request
