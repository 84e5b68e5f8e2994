// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <openvino/runtime/core.hpp>
#include <string>

#include "framework/plan.h"
#include "framework/runner.h"
#include "nereid/backend/model_config.h"
#include "openvino/session.h"
#include "openvino/settings.h"

namespace nereid::openvino {

using backend::Error;

/// What all models share.
struct Environment {
  Error Load(TRITONBACKEND_Backend* backend);
  /// Starts OpenVINO; part of Load.
  Error Start();

  backend::Parameters settings;
  std::shared_ptr<ov::Core> core;
};

/// One version of a model. Unchanged after Load.
class OpenVinoModel {
 public:
  /// `environment` lives longer than the model.
  explicit OpenVinoModel(const Environment* environment) : environment_(*environment) {}

  /// Opens the model file, completes the configuration if the server asks for it, checks it, and
  /// compiles the model.
  Error Load(TRITONBACKEND_Model* model);

  /// The same for an ONNX model of the onnxruntime backend; `path` is its file, `accelerator` what
  /// its configuration says of this one.
  Error LoadAccelerated(TRITONBACKEND_Model* model, const std::string& path,
                        const backend::Parameters& accelerator);

  Error MakeRunner(TRITONBACKEND_ModelInstance* instance,
                   std::unique_ptr<framework::Runner>* runner);

 private:
  Error Open(TRITONBACKEND_Model* model, const std::string& path, const Settings& settings);
  Error ChooseCore(const Settings& settings);

  const Environment& environment_;
  backend::ModelConfig config_;
  std::shared_ptr<const SessionPlan> plan_;
  /// The environment's, or one of its own for a model with operators of its own.
  std::shared_ptr<ov::Core> core_;
  /// Thread-safe; each instance has a request of its own.
  ov::CompiledModel compiled_;
};

/// One instance: executes on one thread at a time.
class OpenVinoInstance {
 public:
  explicit OpenVinoInstance(OpenVinoModel* model) : model_(*model) {}

  Error Load(TRITONBACKEND_ModelInstance* instance) {
    return model_.MakeRunner(instance, &runner_);
  }
  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    runner_->Execute(instance, requests, count);
  }

 private:
  OpenVinoModel& model_;
  std::unique_ptr<framework::Runner> runner_;
};

}  // namespace nereid::openvino
