// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/model.h"

#include <utility>

#include "framework/complete_config.h"
#include "framework/plan.h"
#include "nereid/backend/log.h"
#include "onnxruntime/accelerators.h"
#include "onnxruntime/threads.h"

namespace nereid::onnxruntime {

Error OnnxModel::Load(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  ModelSource source;
  NEREID_BACKEND_TRY(open_(config_, &source));
  Accelerators accelerators;
  NEREID_BACKEND_TRY(ChooseAccelerators(config_, &accelerators));
  if (accelerators.openvino != nullptr) {
    return OpenVinoModel::Load(environment_.directory, config_, *accelerators.openvino, source.path,
                               model, &openvino_);
  }
  Owned<OrtSession> session;
  NEREID_BACKEND_TRY(CreateSession(environment_, config_, source, &session));
  ModelSignature signature;
  NEREID_BACKEND_TRY(ReadSignature(*session, &signature));
  for (TensorSignature& output : signature.outputs) {
    if (const auto known = source.output_names.find(output.name);
        known != source.output_names.end()) {
      output.name = known->second;
    }
  }
  NEREID_BACKEND_TRY(framework::CompleteModel(model, signature.Plain(), environment_.settings,
                                              framework::Completion::kLists, &config_));
  auto plan = std::make_shared<Plan>();
  NEREID_BACKEND_TRY(MakePlan(config_, signature, source, plan.get()));
  plan_ = std::move(plan);
  if (const std::string note = LeftAsideOnCpu(config_); !note.empty()) {
    NEREID_BACKEND_LOG(WARN, note);
  }
  bool shared = true;
  NEREID_BACKEND_TRY(SharesSession(config_, &shared));
  if (shared) {
    shared_session_ = std::shared_ptr<OrtSession>(session.release(), Release());
  }
  return {};
}

Error OnnxModel::MakeRunner(TRITONBACKEND_ModelInstance* instance,
                            std::unique_ptr<Runner>* runner) const {
  NEREID_BACKEND_TRY(framework::RequireCpu(instance, config_, "ONNX Runtime"));
  std::shared_ptr<OrtSession> session = shared_session_;
  if (session == nullptr) {
    ModelSource source;
    NEREID_BACKEND_TRY(open_(config_, &source));
    Owned<OrtSession> own;
    NEREID_BACKEND_TRY(CreateSession(environment_, config_, source, &own));
    session = std::shared_ptr<OrtSession>(own.release(), Release());
  }
  Owned<OrtRunOptions> options;
  NEREID_BACKEND_TRY(CreateRunOptions(config_, &options));
  OrtMemoryInfo* memory = nullptr;
  NEREID_ORT_TRY(Api().CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory));
  *runner = std::make_unique<Runner>(plan_, std::move(session), std::move(options),
                                     Owned<OrtMemoryInfo>(memory));
  return {};
}

}  // namespace nereid::onnxruntime
