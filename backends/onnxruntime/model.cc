// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/model.h"

#include <utility>

#include "framework/complete_config.h"
#include "framework/plan.h"
#include "nereid/backend/log.h"
#include "onnxruntime/accelerators.h"
#include "onnxruntime/open_ranks.h"
#include "onnxruntime/signature.h"

namespace nereid::onnxruntime {
namespace {

using framework::TensorSignature;

/// Keeps the names of the outputs in the graph, and gives the outputs their names for clients.
void NameOutputs(const ModelSource& source, std::vector<TensorSignature>* outputs,
                 std::vector<std::string>* graph_names) {
  for (TensorSignature& output : *outputs) {
    graph_names->push_back(output.name);
    if (const auto known = source.output_names.find(output.name);
        known != source.output_names.end()) {
      output.name = known->second;
    }
  }
}

void AddInitializers(std::vector<TensorSignature> initializers,
                     std::vector<TensorSignature>* inputs) {
  for (TensorSignature& tensor : initializers) {
    tensor.has_default = true;
    inputs->push_back(std::move(tensor));
  }
}

/// Lets the configuration decide about tensors whose rank is open.
void LeaveRanksOpen(const ModelSource& source, framework::ModelSignature* signature) {
  if (source.ranks_declared && !source.path.empty()) {
    MarkOpenRanks(source.path, signature);
  }
  for (auto* tensors : {&signature->inputs, &signature->outputs}) {
    for (TensorSignature& tensor : *tensors) {
      tensor.shape_binds = source.ranks_declared || !tensor.dims.empty();
    }
  }
}

/// Warns of inputs that the completion has taken for scalars, as Triton does, although the model
/// leaves their rank open.
void WarnOfCompleted(const ModelConfig& config, const framework::ModelSignature& signature) {
  for (const TensorSignature& input : signature.inputs) {
    if (!input.has_rank && input.is_tensor) {
      NEREID_BACKEND_LOG(WARN,
                         "model '" + config.name +
                             "': the model does not declare the rank of "
                             "the input '" +
                             input.name +
                             "', so its dims are completed as [ 1 ]; write the input into the "
                             "configuration to use others");
    }
  }
}

}  // namespace

Error OnnxModel::Load(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  ModelSource source;
  NEREID_BACKEND_TRY(open_(config_, &source));
  const framework::Placement placement =
      framework::FirstPlacement(config_, environment_.PrefersGpu());
  Accelerators accelerators;
  NEREID_BACKEND_TRY(ChooseAccelerators(config_, placement, &accelerators));
  if (accelerators.openvino != nullptr) {
    return OpenVinoModel::Load(environment_.directory, config_, *accelerators.openvino, source.path,
                               model, &openvino_);
  }
  std::shared_ptr<OrtSession> session;
  NEREID_BACKEND_TRY(sessions_.Open(config_, source, placement, &session));
  framework::ModelSignature signature;
  std::vector<TensorSignature> initializers;
  NEREID_BACKEND_TRY(ReadSignature(*session, &signature, &initializers));
  auto plan = std::make_shared<SessionPlan>();
  NameOutputs(source, &signature.outputs, &plan->output_names);
  const bool lists_inputs = !config_.inputs.empty();
  NEREID_BACKEND_TRY(framework::CompleteModel(model, signature, environment_.settings,
                                              framework::Completion::kLists, &config_));
  LeaveRanksOpen(source, &signature);
  if (!lists_inputs && !config_.inputs.empty()) {
    WarnOfCompleted(config_, signature);
  }
  AddInitializers(std::move(initializers), &signature.inputs);
  framework::FrameworkTraits traits{source.backend, source.kind};
  traits.writes_in_place = true;
  NEREID_BACKEND_TRY(framework::MakePlan(config_, signature, traits, &plan->run));
  plan_ = std::move(plan);
  if (const std::string note = IgnoredSettings(config_, placement); !note.empty()) {
    NEREID_BACKEND_LOG(WARN, note);
  }
  return {};
}

Error OnnxModel::PrepareThreads(uint32_t threads) {
  if (openvino_ != nullptr) {
    return Error::Unsupported("OpenVINO runs the model");
  }
  return sessions_.Prepare(config_, open_, threads);
}

Error OnnxModel::MakeRunner(TRITONBACKEND_ModelInstance* instance,
                            std::unique_ptr<framework::Runner>* runner) const {
  framework::Placement placement;
  NEREID_BACKEND_TRY(framework::ReadPlacement(instance, &placement));
  std::shared_ptr<OrtSession> session;
  NEREID_BACKEND_TRY(sessions_.ForInstance(config_, open_, placement, &session));
  Owned<OrtRunOptions> options;
  NEREID_BACKEND_TRY(CreateRunOptions(config_, &options));
  TensorMemory memory;
  NEREID_BACKEND_TRY(TensorMemory::Make(placement, &memory));
  auto run = std::make_unique<OnnxSession>(plan_, std::move(session), std::move(options),
                                           std::move(memory));
  if (!placement.on_gpu() && sessions_.varies()) {
    run->ChooseFrom(sessions_.by_threads());
  }
  *runner = std::make_unique<framework::Runner>(
      std::shared_ptr<const framework::RunPlan>(plan_, &plan_->run), std::move(run),
      placement.on_gpu() ? instance : nullptr);
  return {};
}

}  // namespace nereid::onnxruntime
