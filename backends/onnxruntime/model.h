// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "onnxruntime/openvino.h"
#include "onnxruntime/plan.h"
#include "onnxruntime/runner.h"
#include "onnxruntime/session.h"

namespace nereid::onnxruntime {

/// One version of a model. Unchanged after Load.
class OnnxModel {
 public:
  /// `environment` lives longer than the model. `open` finds its file, or makes one in memory.
  explicit OnnxModel(const Environment* environment, OpenModel open = OpenModelFile)
      : environment_(*environment), open_(open) {}

  /// Opens the model file, completes the configuration if the server asks for it, and checks it.
  Error Load(TRITONBACKEND_Model* model);

  /// Null unless the configuration has OpenVINO run the model; then MakeRunner is not called.
  const OpenVinoModel* openvino() const { return openvino_.get(); }

  /// Makes what an instance needs to run.
  Error MakeRunner(TRITONBACKEND_ModelInstance* instance, std::unique_ptr<Runner>* runner) const;

 private:
  const Environment& environment_;
  const OpenModel open_;
  ModelConfig config_;
  std::shared_ptr<const Plan> plan_;
  /// Null where each instance has its own.
  std::shared_ptr<OrtSession> shared_session_;
  std::unique_ptr<OpenVinoModel> openvino_;
};

/// One instance: executes on one thread at a time.
class OnnxInstance {
 public:
  explicit OnnxInstance(const OnnxModel* model) : model_(*model) {}

  Error Load(TRITONBACKEND_ModelInstance* instance) {
    return model_.openvino() != nullptr ? model_.openvino()->MakeInstance(instance, &openvino_)
                                        : model_.MakeRunner(instance, &runner_);
  }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    if (openvino_ != nullptr) {
      openvino_->Execute(instance, requests, count);
    } else {
      runner_->Execute(instance, requests, count);
    }
  }

 private:
  const OnnxModel& model_;
  /// One of the two.
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<OpenVinoInstance> openvino_;
};

}  // namespace nereid::onnxruntime
