// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/model.h"

#include <algorithm>
#include <filesystem>

#include "framework/complete_config.h"
#include "framework/version_file.h"
#include "nereid/backend/data_type.h"
#include "tensorrt/session.h"

namespace nereid::tensorrt {
namespace {

using backend::ModelConfig;
using backend::TensorConfig;

Error CheckShapeTensors(const ModelConfig& config, const std::string& kind,
                        const std::vector<TensorConfig>& given,
                        const std::vector<EngineTensor>& tensors) {
  for (const TensorConfig& tensor : given) {
    const auto found = std::find_if(
        tensors.begin(), tensors.end(),
        [&](const EngineTensor& candidate) { return candidate.signature.name == tensor.name; });
    if (found == tensors.end() || found->shape_tensor == tensor.is_shape_tensor) {
      continue;  // MakePlan reports unknown names
    }
    return Error::InvalidArgument("model '" + config.name + "': " + kind + " '" + tensor.name +
                                  "' is " + (found->shape_tensor ? "a" : "no") +
                                  " shape tensor of the TensorRT engine; set is_shape_tensor to " +
                                  (found->shape_tensor ? "true" : "false"));
  }
  return {};
}

/// Returns the signature of a tensor for the configuration. In a model that batches, the engine's
/// shape tensors contain the batch size as an additional value, so their shape is not compared.
framework::TensorSignature Seen(const ModelConfig& config, const EngineTensor& tensor) {
  framework::TensorSignature signature = tensor.signature;
  if (tensor.shape_tensor && config.batching()) {
    signature.has_rank = false;
  }
  return signature;
}

/// Checks that some profile accepts batches of max_batch_size.
Error CheckBatchSize(const ModelConfig& config, const Engine& engine,
                     const std::vector<int>& profiles) {
  int64_t most = 0;
  for (const int index : profiles) {
    Profile profile;
    NEREID_BACKEND_TRY(engine.ReadProfile(index, &profile));
    int64_t smallest = INT64_MAX;
    for (size_t i = 0; i < profile.inputs.size(); ++i) {
      if (!engine.inputs()[i].shape_tensor && !profile.inputs[i].most.empty()) {
        smallest = std::min(smallest, profile.inputs[i].most[0]);
      }
    }
    most = std::max(most, smallest);
  }
  if (!config.batching() || config.max_batch_size <= most) {
    return {};
  }
  return Error::InvalidArgument(
      "model '" + config.name + "': max_batch_size is " + std::to_string(config.max_batch_size) +
      ", but the profiles of the instance group end at " + std::to_string(most));
}

Error ReadProfiles(TRITONBACKEND_ModelInstance* instance, const Engine& engine,
                   std::vector<int>* profiles) {
  uint32_t count = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceProfileCount(instance, &count));
  std::vector<std::string> names;
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceProfileName(instance, i, &name));
    names.emplace_back(name);
  }
  return ParseProfiles(names, engine.profile_count(), profiles);
}

}  // namespace

Error MakeSignature(const ModelConfig& config, const Engine& engine,
                    framework::ModelSignature* signature) {
  NEREID_BACKEND_TRY(CheckShapeTensors(config, "input", config.inputs, engine.inputs()));
  NEREID_BACKEND_TRY(CheckShapeTensors(config, "output", config.outputs, engine.outputs()));
  for (const EngineTensor& input : engine.inputs()) {
    signature->inputs.push_back(Seen(config, input));
  }
  for (const EngineTensor& output : engine.outputs()) {
    signature->outputs.push_back(Seen(config, output));
  }
  return {};
}

Error TensorRtModel::Load(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  std::filesystem::path path;
  NEREID_BACKEND_TRY(framework::FindVersionFile(config_, "model.plan", &path));
  if (!std::filesystem::is_regular_file(path)) {
    return framework::MissingFile(config_, path);
  }
  path_ = path.string();
  std::unique_ptr<Engine> engine;
  NEREID_BACKEND_TRY(Engine::Read(path_, &engine));
  framework::ModelSignature signature;
  NEREID_BACKEND_TRY(MakeSignature(config_, *engine, &signature));
  NEREID_BACKEND_TRY(framework::CompleteModel(model, signature, backend_.settings,
                                              framework::Completion::kLists, &config_));
  auto plan = std::make_shared<framework::RunPlan>();
  framework::FrameworkTraits traits{"TensorRT", "TensorRT model"};
  traits.ragged_batches = false;
  NEREID_BACKEND_TRY(framework::MakePlan(config_, signature, traits, plan.get()));
  plan_ = std::move(plan);
  return {};
}

Error TensorRtModel::MakeRunner(TRITONBACKEND_ModelInstance* instance,
                                std::unique_ptr<framework::Runner>* runner) const {
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceKind(instance, &kind));
  if (kind != TRITONSERVER_INSTANCEGROUPKIND_GPU) {
    return Error::Unsupported("model '" + config_.name +
                              "': TensorRT runs on GPUs; set the instance group's kind to "
                              "KIND_GPU");
  }
  int32_t device = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceDeviceId(instance, &device));
  NEREID_BACKEND_TRY(CudaError(cudaSetDevice(device), "use the instance's GPU"));
  std::unique_ptr<Engine> engine;
  NEREID_BACKEND_TRY(Engine::Read(path_, &engine));
  std::vector<int> profiles;
  NEREID_BACKEND_TRY(ReadProfiles(instance, *engine, &profiles));
  NEREID_BACKEND_TRY(CheckBatchSize(config_, *engine, profiles));
  std::unique_ptr<framework::Session> session;
  NEREID_BACKEND_TRY(TensorRtSession::Create(plan_, std::move(engine), profiles, device, &session));
  *runner = std::make_unique<framework::Runner>(plan_, std::move(session));
  return {};
}

}  // namespace nereid::tensorrt
