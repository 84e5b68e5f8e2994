// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/status.h"

namespace nereid::request {

class InferenceRequest;

/// Receives the release of requests from the backend; implemented by the scheduler, which may not
/// hand out the next request of a sequence before the present one is released. Called on any
/// thread, during the backend's Execute or after it, without a lock.
class ReleaseListener {
 public:
  virtual ~ReleaseListener() = default;

  /// Called once for each handed-out request when the backend, or the server on its behalf, has
  /// finished with it: executed, failed or refused. Called before the request returns to its sink.
  /// Its responses may still be in progress.
  virtual void OnReleased(InferenceRequest& request) noexcept = 0;

  /// Takes a request that the backend wants to be executed once more. Returns INVALID_ARGUMENT, and
  /// leaves the request with the caller, if the model is not configured for that or the sequence is
  /// over.
  virtual base::Status Reschedule(std::unique_ptr<InferenceRequest>& request) noexcept = 0;
};

}  // namespace nereid::request
