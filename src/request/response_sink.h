// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/status.h"
#include "memory/memory_type.h"
#include "request/inference_request.h"
#include "request/inference_response.h"

namespace nereid::request {

/// Where the responses of one request go: implemented by each front end. The core keeps it alive
/// until the final response is sent, the request is released and every response is destroyed. The
/// functions may be called on any thread (also on the thread that submits, before the submission
/// returns), for one request never two at a time except RequestReleased, and must neither block
/// nor call back into the core, but for submitting another request (the next step of an ensemble).
/// No lock is held by the caller. One exception: a sink may hold up a
/// thread that sends responses of a decoupled model faster than its client reads them, if the
/// thread may block (base::ThreadMayBlock), for a few seconds, and not beyond the client's going
/// away.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;

  /// One response, or none with the final flag alone. Exactly one call per accepted request has
  /// `final`; nothing comes after it. A request of a model that is not decoupled gets exactly one
  /// response, possibly one with an error, unless a backend breaks the rules: be prepared for none
  /// and for several.
  virtual void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept = 0;

  /// The core is done with the request and the memory of its inputs. May come before or after the
  /// responses. The default destroys it.
  virtual void RequestReleased(std::unique_ptr<InferenceRequest> request) noexcept;

  /// Called when a response object is made.
  virtual base::Status ResponseStarted() noexcept { return base::Status::Ok(); }

  /// Gives `output` memory for `size` bytes: sets data, memory_type and memory_type_id (the wish
  /// on entry). The default takes host memory, owned by the output.
  virtual base::Status AllocateOutput(Output* output, size_t size) noexcept;

  /// Gives `output` the bytes at `data`, of which there are `size`, in host memory that is there
  /// for as long as `owner`. The default refers to them; a sink that answers in memory of its own
  /// copies. In the place of AllocateOutput.
  virtual base::Status LendOutput(Output* output, char* data, size_t size,
                                  std::shared_ptr<const void> owner) noexcept;

  /// Called once for each output that AllocateOutput or LendOutput served, when its response is
  /// destroyed.
  virtual void ReleaseOutput(Output* output) noexcept;

  /// Which memory the sink would give for an output; UNAVAILABLE if it cannot say. `name` may be
  /// empty and `size` null when not known.
  virtual base::Status QueryOutput(std::string_view name, size_t* size, memory::MemoryType* type,
                                   int64_t* id) noexcept;
};

}  // namespace nereid::request
