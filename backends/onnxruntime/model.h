// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "framework/runner.h"
#include "onnxruntime/open_session.h"
#include "onnxruntime/openvino.h"
#include "onnxruntime/session.h"
#include "onnxruntime/sessions.h"

namespace nereid::onnxruntime {

/// A version of an ONNX model. Immutable after Load, except for its sessions.
class OnnxModel {
 public:
  /// `environment` must outlive the model. `open` finds the model file, or creates a model in
  /// memory.
  explicit OnnxModel(const Environment* environment, OpenModel open = OpenModelFile)
      : environment_(*environment), open_(open), sessions_(environment) {}

  /// Opens the model, completes the configuration if the server asks for it, and checks it.
  Error Load(TRITONBACKEND_Model* model);

  /// Not null if the configuration makes OpenVINO run the model. MakeRunner must not be called
  /// then.
  const OpenVinoModel* openvino() const { return openvino_.get(); }

  /// Opens a session with this number of threads, if there is none yet. UNSUPPORTED if the number
  /// of threads is fixed: by a setting, by OpenVINO, on a GPU, or with sessions that are not
  /// shared. Thread-safe.
  Error PrepareThreads(uint32_t threads);

  /// Returns whether the instances run the same sessions, which keep nothing for the next run.
  bool InstancesShare() const { return openvino_ == nullptr && sessions_.varies(); }

  /// Creates the runner of an instance.
  Error MakeRunner(TRITONBACKEND_ModelInstance* instance,
                   std::unique_ptr<framework::Runner>* runner) const;

 private:
  const Environment& environment_;
  const OpenModel open_;
  ModelConfig config_;
  std::shared_ptr<const SessionPlan> plan_;
  mutable Sessions sessions_;
  std::unique_ptr<OpenVinoModel> openvino_;
};

/// An instance. Executes on one thread at a time.
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

  void SetThreads(uint32_t threads) noexcept {
    if (runner_ != nullptr) {
      runner_->SetThreads(threads);
    }
  }

  Error CheckReady() const { return runner_ == nullptr ? Error() : runner_->CheckReady(); }

 private:
  const OnnxModel& model_;
  /// One of the two is set.
  std::unique_ptr<framework::Runner> runner_;
  std::unique_ptr<OpenVinoInstance> openvino_;
};

}  // namespace nereid::onnxruntime
