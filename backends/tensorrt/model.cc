// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/model.h"

#include <filesystem>

#include "framework/complete_config.h"
#include "framework/version_file.h"
#include "nereid/backend/log.h"
#include "tensorrt/session.h"
#include "tensorrt/signature.h"

namespace nereid::tensorrt {
namespace {

Error ReadProfileNames(TRITONBACKEND_ModelInstance* instance, std::vector<std::string>* names) {
  uint32_t count = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceProfileCount(instance, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceProfileName(instance, i, &name));
    names->emplace_back(name);
  }
  return {};
}

/// Returns the DLA core of an instance; -1 if it uses none.
Error ReadDlaCore(TRITONBACKEND_ModelInstance* instance, int* core) {
  uint32_t count = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceSecondaryDeviceCount(instance, &count));
  *core = -1;
  if (count == 0) {
    return {};
  }
  const char* kind = nullptr;
  int64_t id = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(instance, 0, &kind, &id));
  if (count > 1 || kind == nullptr || std::string_view(kind) != "KIND_NVDLA") {
    return Error::InvalidArgument("secondary_devices may name one device of kind KIND_NVDLA");
  }
  *core = static_cast<int>(id);
  return {};
}

}  // namespace

Error TensorRtBackend::Load(TRITONBACKEND_Backend* backend) {
  backend::Parameters settings;
  NEREID_BACKEND_TRY(backend::ReadBackendConfig(backend, &settings));
  NEREID_BACKEND_TRY(ReadBackendOptions(settings, &options_));
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  const char* place = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_BackendArtifacts(backend, &type, &place));
  directory_ = place == nullptr ? "" : place;
  return Error(TRITONBACKEND_BackendSetExecutionPolicy(
      backend, options_.one_launcher ? TRITONBACKEND_EXECUTION_DEVICE_BLOCKING
                                     : TRITONBACKEND_EXECUTION_BLOCKING));
}

Error TensorRtBackend::Open(int ordinal, Gpu** gpu, const TensorRtLibrary** library) const {
  if (const Error error = Gpu::Find(ordinal, gpu); !error.ok()) {
    return Error(TRITONSERVER_ErrorCode(error.get()), "TensorRT needs a GPU: " + error.message());
  }
  NEREID_BACKEND_TRY(TensorRtLibrary::Get(directory_, library));
  for (const std::string& plugin : options_.plugins) {
    NEREID_BACKEND_TRY((*library)->OpenPlugin(plugin));
  }
  return {};
}

Error TensorRtModel::Bad(TRITONSERVER_Error_Code code, const std::string& what) const {
  return {code, "model '" + config_.name + "': " + what};
}

Error TensorRtModel::FindPlan(const Gpu& gpu, int dla_core, EngineSource* source) const {
  backend::ModelConfig config = config_;
  if (const auto found = settings_.files.find(gpu.capability()); found != settings_.files.end()) {
    config.default_model_filename = found->second;
  }
  std::filesystem::path path;
  NEREID_BACKEND_TRY(framework::FindVersionFile(config, "model.plan", &path));
  if (!std::filesystem::is_regular_file(path)) {
    return framework::MissingFile(config, path);
  }
  *source = {path.string(), backend_.options().host_code, dla_core};
  return {};
}

Error TensorRtModel::Load(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  rapidjson::Document document;
  NEREID_BACKEND_TRY(backend::ReadConfigDocument(model, &document));
  if (const Error error = ReadSettings(document, config_.parameters, &settings_); !error.ok()) {
    return Bad(TRITONSERVER_ERROR_INVALID_ARG, error.message());
  }
  if (settings_.gather_kernel) {
    NEREID_BACKEND_LOG(WARN, "model '" + config_.name +
                                 "': optimization.gather_kernel_buffer_threshold has no effect: "
                                 "inputs are put together by copies");
  }
  Gpu* gpu = nullptr;
  const TensorRtLibrary* library = nullptr;
  if (const Error error = backend_.Open(settings_.first_gpu, &gpu, &library); !error.ok()) {
    return Bad(TRITONSERVER_ErrorCode(error.get()), error.message());
  }
  EngineSource source;
  NEREID_BACKEND_TRY(FindPlan(*gpu, settings_.first_dla_core, &source));
  CurrentGpu current;
  NEREID_BACKEND_TRY(current.Enter(gpu));
  std::shared_ptr<const Engine> engine;
  NEREID_BACKEND_TRY(engines_->Look(*library, gpu, source, &engine));
  return MakePlan(model, *engine);
}

Error TensorRtModel::MakePlan(TRITONBACKEND_Model* model, const Engine& engine) {
  std::vector<int> profiles;
  NEREID_BACKEND_TRY(ParseProfiles(settings_.profiles, engine.profile_count(), &profiles));
  framework::ModelSignature signature;
  NEREID_BACKEND_TRY(MakeSignature(engine, profiles, config_, &signature));
  NEREID_BACKEND_TRY(
      framework::CompleteModel(model, signature, {}, framework::Completion::kEntries, &config_));
  NEREID_BACKEND_TRY(CheckMarks(config_, engine));
  auto plan = std::make_shared<framework::RunPlan>();
  NEREID_BACKEND_TRY(
      framework::MakePlan(config_, signature, {"TensorRT", "TensorRT model"}, plan.get()));
  plan->coalesces_inputs = backend_.options().coalesce_inputs;
  for (framework::PlannedInput& input : plan->inputs) {
    input.in_host_memory = engine.inputs()[input.place].on_host;
  }
  plan_ = std::move(plan);
  return {};
}

Error TensorRtModel::CheckBatchSize(const EngineLease& lease) const {
  std::optional<int64_t> most;
  NEREID_BACKEND_TRY(FindMaxBatchSize(*lease.engine, lease.profiles, config_, &most));
  if (!config_.batching() || !most || config_.max_batch_size <= *most) {
    return {};
  }
  return Bad(TRITONSERVER_ERROR_INVALID_ARG,
             "max_batch_size is " + std::to_string(config_.max_batch_size) +
                 ", but the profiles of the instance group end at " + std::to_string(*most));
}

Error TensorRtModel::MakeRunner(TRITONBACKEND_ModelInstance* instance,
                                std::unique_ptr<framework::Runner>* runner, Gpu** gpu) const {
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceKind(instance, &kind));
  if (kind != TRITONSERVER_INSTANCEGROUPKIND_GPU) {
    return Bad(TRITONSERVER_ERROR_UNSUPPORTED,
               "TensorRT runs on GPUs; set the instance group's kind to KIND_GPU");
  }
  int32_t device = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceDeviceId(instance, &device));
  const TensorRtLibrary* library = nullptr;
  NEREID_BACKEND_TRY(backend_.Open(device, gpu, &library));
  int dla_core = -1;
  NEREID_BACKEND_TRY(ReadDlaCore(instance, &dla_core));
  EngineSource source;
  NEREID_BACKEND_TRY(FindPlan(**gpu, dla_core, &source));
  std::vector<std::string> profiles;
  NEREID_BACKEND_TRY(ReadProfileNames(instance, &profiles));
  CurrentGpu current;
  NEREID_BACKEND_TRY(current.Enter(*gpu));
  EngineLease lease;
  NEREID_BACKEND_TRY(engines_->Take(*library, *gpu, source, profiles, &lease));
  NEREID_BACKEND_TRY(CheckBatchSize(lease));
  TensorRtSession::Options options;
  options.execution = {settings_.context_memory, backend_.options().one_launcher};
  options.busy_wait = settings_.busy_wait;
  options.output_stream = settings_.output_stream;
  options.priority = settings_.priority;
  options.graphs = settings_.graphs;
  options.graph_specs = settings_.graph_specs;
  options.max_batch_size = config_.max_batch_size;
  std::unique_ptr<framework::Session> session;
  NEREID_BACKEND_TRY(TensorRtSession::Create(plan_, std::move(lease), options, &session));
  *runner = std::make_unique<framework::Runner>(plan_, std::move(session), instance);
  return {};
}

}  // namespace nereid::tensorrt
