// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/status.h"

namespace nereid::request {

class InferenceRequest;

/// Is told when a backend has given a request back: a scheduler that may not hand out the next
/// request of a sequence before. Called on any thread, also inside the backend's Execute and after
/// it; no lock is held.
class ReleaseListener {
 public:
  virtual ~ReleaseListener() = default;

  /// The backend, or the server on its behalf, is done with the request: executed, failed or
  /// refused. Its responses may still be on their way. Called once for each request that had been
  /// handed out, before the request goes back to its sink.
  virtual void OnReleased(InferenceRequest& request) noexcept = 0;

  /// The backend wants the request to be executed once more. Takes it, or fails and leaves it:
  /// INVALID_ARGUMENT where the model is not configured for that.
  virtual base::Status Reschedule(std::unique_ptr<InferenceRequest>& request) noexcept = 0;
};

}  // namespace nereid::request
