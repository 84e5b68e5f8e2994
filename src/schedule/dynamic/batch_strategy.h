// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "request/inference_request.h"

namespace nereid::schedule {

/// Lets a model's own batching library close dynamic batches early, in addition to the
/// configuration. The planner examines one batch at a time, always from its first request; when it
/// examines a batch again, it starts with Begin again. Called under the scheduler's lock, so an
/// implementation must be quick and must not call the server.
class BatchStrategy {
 public:
  virtual ~BatchStrategy() = default;
  /// Starts a new batch; the previous one is over.
  virtual void Begin() noexcept = 0;
  /// Returns whether the request joins the batch. The answer for the first request is ignored,
  /// because a batch without requests would never run.
  virtual bool Includes(request::InferenceRequest& request) noexcept = 0;
};

}  // namespace nereid::schedule
