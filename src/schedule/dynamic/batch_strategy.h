// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "request/inference_request.h"

namespace nereid::schedule {

/// Has a say in when a dynamic batch is closed, besides the configuration: a model's own batching
/// library. Batches are looked at one after the other, each from its first request; one that is
/// looked at anew begins anew. Called under the scheduler's lock, for deciding needs its answer:
/// an implementation must be quick and must not call the server.
class BatchStrategy {
 public:
  virtual ~BatchStrategy() = default;
  /// A batch begins, which ends the one before.
  virtual void Begin() noexcept = 0;
  /// Whether the request joins the batch. What is said of the first one is ignored: a batch without
  /// requests would never run.
  virtual bool Includes(request::InferenceRequest& request) noexcept = 0;
};

}  // namespace nereid::schedule
