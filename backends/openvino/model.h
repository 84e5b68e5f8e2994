// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <openvino/runtime/core.hpp>
#include <string>

#include "framework/by_threads.h"
#include "framework/plan.h"
#include "framework/runner.h"
#include "nereid/backend/model_config.h"
#include "openvino/session.h"
#include "openvino/settings.h"

namespace nereid::openvino {

using backend::Error;

/// The state that all models share.
struct Environment {
  Error Load(TRITONBACKEND_Backend* backend);
  /// Starts OpenVINO; a part of Load.
  Error Start();

  backend::Parameters settings;
  std::shared_ptr<ov::Core> core;
};

/// A version of a model. Immutable after Load.
class OpenVinoModel {
 public:
  /// `environment` must outlive the model.
  explicit OpenVinoModel(const Environment* environment) : environment_(*environment) {}

  /// Opens the model file, completes the configuration if the server asks for it, checks it, and
  /// compiles the model.
  Error Load(TRITONBACKEND_Model* model);

  /// Does the same for an ONNX model of the onnxruntime backend. `path` is the model file, and
  /// `accelerator` are the parameters of this accelerator in its configuration.
  Error LoadAccelerated(TRITONBACKEND_Model* model, const std::string& path,
                        const backend::Parameters& accelerator);

  /// Compiles the model for executions with this number of threads, if that has not been done.
  /// UNSUPPORTED if the number of threads is fixed. Thread-safe.
  Error PrepareThreads(uint32_t threads);

  Error MakeRunner(TRITONBACKEND_ModelInstance* instance,
                   std::unique_ptr<framework::Runner>* runner);

 private:
  Error Open(TRITONBACKEND_Model* model, const std::string& path, const Settings& settings);
  Error ChooseCore(const Settings& settings);
  Error Compile(const std::shared_ptr<ov::Model>& model, const ov::AnyMap& properties,
                std::shared_ptr<ov::CompiledModel>* compiled) const;
  ov::AnyMap PropertiesFor(uint32_t threads) const;

  const Environment& environment_;
  backend::ModelConfig config_;
  std::shared_ptr<const SessionPlan> plan_;
  /// The core of the environment, or a separate one for a model with custom operators.
  std::shared_ptr<ov::Core> core_;
  Settings model_settings_;
  std::string path_;
  /// Thread-safe; each instance has its own inference request.
  std::shared_ptr<ov::CompiledModel> compiled_;
  /// Of a model whose threads vary: compiled_ for one thread, and the others.
  std::shared_ptr<framework::ByThreads<ov::CompiledModel>> by_threads_ =
      std::make_shared<framework::ByThreads<ov::CompiledModel>>();
};

using OpenVinoInstance = framework::RunnerInstance<OpenVinoModel>;

}  // namespace nereid::openvino
