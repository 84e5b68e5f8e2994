// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/mutex.h"
#include "framework/backend_settings.h"
#include "framework/plan.h"
#include "framework/runner.h"
#include "nereid/backend/model_config.h"
#include "tensorflow/loaded_graph.h"

namespace nereid::tensorflow {

/// A version of a model. Immutable after Load, except for the sessions.
class TensorFlowModel {
 public:
  /// `backend` must outlive the model.
  explicit TensorFlowModel(const framework::BackendSettings* backend) : backend_(*backend) {}

  /// Opens the model file, completes the configuration if the server asks for it, and checks it.
  Error Load(TRITONBACKEND_Model* model);

  Error MakeRunner(TRITONBACKEND_ModelInstance* instance,
                   std::unique_ptr<framework::Runner>* runner) const;

 private:
  /// Opens the model file.
  Error Open(std::shared_ptr<LoadedGraph>* graph) const;
  /// Returns the session for a further instance.
  Error GraphForInstance(std::shared_ptr<const LoadedGraph>* graph) const;

  const framework::BackendSettings& backend_;
  backend::ModelConfig config_;
  bool saved_model_ = false;
  std::string path_;
  std::shared_ptr<const framework::RunPlan> plan_;
  int64_t sharers_ = 1;
  mutable base::Mutex mutex_;
  /// The session that was opened last, and the number of instances that use it.
  mutable std::shared_ptr<const LoadedGraph> graph_ NEREID_GUARDED_BY(mutex_);
  mutable int64_t users_ NEREID_GUARDED_BY(mutex_) = 0;
};

using TensorFlowInstance = framework::RunnerInstance<const TensorFlowModel>;

}  // namespace nereid::tensorflow
