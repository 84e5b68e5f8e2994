// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "onnxruntime/plan.h"
#include "onnxruntime/runner.h"
#include "onnxruntime/session.h"

namespace nereid::onnxruntime {

/// One version of a model. Unchanged after Load.
class OnnxModel {
 public:
  /// `environment` lives longer than the model.
  explicit OnnxModel(const Environment* environment) : environment_(*environment) {}

  /// Opens the model file, completes the configuration if the server asks for it, and checks it.
  Error Load(TRITONBACKEND_Model* model);

  /// Makes what an instance needs to run.
  Error MakeRunner(TRITONBACKEND_ModelInstance* instance, std::unique_ptr<Runner>* runner) const;

 private:
  const Environment& environment_;
  ModelConfig config_;
  std::shared_ptr<const Plan> plan_;
  /// Null where each instance has its own.
  std::shared_ptr<OrtSession> shared_session_;
};

}  // namespace nereid::onnxruntime
