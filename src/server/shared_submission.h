// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/shared_memory.h"
#include "base/blocking_workers.h"
#include "model/model_version.h"
#include "request/inference_request.h"
#include "request/model_identity.h"

namespace nereid::server {

/// Submits the requests that have tensors in shared memory. Thread-safe.
class SharedSubmission {
 public:
  /// `memory` must outlive this object.
  explicit SharedSubmission(const api::SharedMemory& memory) : memory_(memory) {}

  /// Gives the request, whose shared_tensors is set, its tensors and submits it like model::Submit.
  /// Copying and checking many strings takes too long for an event loop, so another thread does it;
  /// the model's refusal is then sent to the client instead of being returned. A request of a
  /// sequence keeps its place: it is submitted by the calling thread, unless its strings are in GPU
  /// memory. Those requests are submitted by one other thread, in their order. `watch` may be null.
  base::Status Submit(std::shared_ptr<const request::ModelIdentity> identity,
                      model::ModelVersion& version,
                      std::unique_ptr<request::InferenceRequest>& request,
                      std::shared_ptr<model::SubmissionWatch> watch = nullptr);

 private:
  base::Status SubmitElsewhere(base::BlockingWorkers& workers,
                               std::shared_ptr<const request::ModelIdentity> identity,
                               model::ModelVersion& version,
                               std::unique_ptr<request::InferenceRequest>& request,
                               std::shared_ptr<model::SubmissionWatch> watch);

  const api::SharedMemory& memory_;
  base::BlockingWorkers workers_{"shm-strings", 4, 4096};
  base::BlockingWorkers in_order_{"shm-sequences", 1, 4096};  // for models with sequences
};

}  // namespace nereid::server
