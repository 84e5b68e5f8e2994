// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bound/queue.h"
#include "nereid/backend/error.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/plugin.h"

namespace nereid::bound {

/// A version of a model whose function is in the program that embeds the server. Immutable after
/// Load.
class BoundModel {
 public:
  explicit BoundModel(backend::NoBackendState*) {}

  /// Finds the queue of the parameter `bound_token` and the version.
  backend::Error Load(TRITONBACKEND_Model* model);

  Queue& queue() const { return *queue_; }
  bool batching() const { return config_.batching(); }

 private:
  backend::ModelConfig config_;
  std::shared_ptr<Queue> queue_;
};

/// An instance, which waits while the program executes its batch.
class BoundInstance {
 public:
  explicit BoundInstance(BoundModel* model) : model_(*model) {}
  backend::Error Load(TRITONBACKEND_ModelInstance*) { return {}; }
  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count);

 private:
  const BoundModel& model_;
};

}  // namespace nereid::bound
