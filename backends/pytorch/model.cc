// SPDX-License-Identifier: Apache-2.0
#include "pytorch/model.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/cpus.h"
#include "framework/mismatch.h"
#include "framework/version_file.h"
#include "nereid/backend/data_type.h"
#include "nereid/backend/log.h"
#include "pytorch/torch_error.h"
#include "pytorch/torch_types.h"

namespace nereid::pytorch {
namespace {

using backend::ModelConfig;
using framework::TensorSignature;

Error CheckType(const ModelConfig& config, const std::string& kind, const std::string& name,
                TRITONSERVER_DataType type) {
  if (type == TRITONSERVER_TYPE_BYTES || ScalarTypeOf(type)) {
    return {};
  }
  return Error::InvalidArgument("unsupported datatype " + backend::DataTypeToConfig(type) +
                                " for " + kind + " '" + name + "' for model '" + config.name + "'");
}

/// Checks a tensor of strings. In TorchScript it is a list, which has one dimension.
Error CheckText(const ModelConfig& config, const std::string& kind,
                const backend::TensorConfig& tensor) {
  if (tensor.data_type != TRITONSERVER_TYPE_BYTES || tensor.ModelDims().size() <= 1) {
    return {};
  }
  return Error::InvalidArgument("model '" + config.name + "': " + kind + " '" + tensor.name +
                                "' is of TYPE_STRING, a List[str] in TorchScript, and has one "
                                "dimension, not " +
                                backend::ShapeText(tensor.ModelDims()));
}

/// Lists the tensors of the configuration in the order of forward's arguments: first the inputs,
/// then the controls, then the states, then the targets of `batch_input`.
Error NameTensors(const ModelConfig& config, std::vector<NamedTensor>* inputs,
                  std::vector<NamedTensor>* outputs) {
  for (const auto& input : config.inputs) {
    NEREID_BACKEND_TRY(CheckType(config, "input", input.name, input.data_type));
    NEREID_BACKEND_TRY(CheckText(config, "input", input));
    inputs->push_back({input.name, input.data_type});
  }
  for (const backend::ControlConfig& control : config.controls) {
    NEREID_BACKEND_TRY(CheckType(config, "control input", control.name, control.data_type));
    inputs->push_back({control.name, control.data_type});
  }
  for (const auto& state : config.states) {
    NEREID_BACKEND_TRY(CheckType(config, "input state", state.input_name, state.output.data_type));
    NEREID_BACKEND_TRY(CheckText(config, "state", state.output));
    inputs->push_back({state.input_name, state.output.data_type});
  }
  for (const backend::BatchInputConfig& input : config.batch_inputs) {
    for (const std::string& target : input.targets) {
      inputs->push_back({target, input.data_type});
    }
  }
  for (const auto& output : config.outputs) {
    NEREID_BACKEND_TRY(CheckType(config, "output", output.name, output.data_type));
    NEREID_BACKEND_TRY(CheckText(config, "output", output));
    outputs->push_back({output.name, output.data_type});
  }
  for (const auto& state : config.states) {
    const bool listed = std::any_of(
        config.outputs.begin(), config.outputs.end(),
        [&](const backend::TensorConfig& output) { return output.name == state.output.name; });
    if (!listed) {
      outputs->push_back({state.output.name, state.output.data_type});
    }
  }
  return {};
}

/// Returns a signature with the names in the configuration, because TorchScript declares neither
/// data types nor shapes.
framework::ModelSignature SignatureOf(const std::vector<NamedTensor>& inputs,
                                      const std::vector<NamedTensor>& outputs,
                                      const ForwardSignature& forward, const Naming& naming) {
  framework::ModelSignature signature;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TensorSignature& tensor = signature.inputs.emplace_back();
    tensor.name = inputs[i].name;
    tensor.has_default =
        !naming.dictionary && forward.arguments[naming.arguments[i]].can_be_left_out();
  }
  for (const NamedTensor& output : outputs) {
    signature.outputs.emplace_back().name = output.name;
  }
  return signature;
}

/// Returns the error for a configuration without inputs or outputs, which cannot be completed
/// because TorchScript declares too little.
Error CheckWritten(const ModelConfig& config, const ForwardSignature& forward) {
  const auto advice = [&](const std::string& lacks) {
    return "the configuration has no " + lacks +
           ", and a TorchScript file says neither data types nor dims that could complete it. The "
           "model has " +
           forward.Text() + "; write an " + lacks + " with name, data_type and dims for each";
  };
  if (config.inputs.empty() && !forward.arguments.empty()) {
    const Error count = framework::WrongInputCount(config.name, 0, forward.arguments.size());
    const std::string text = count.message() + "; " + advice("input");
    return config.outputs.empty() ? Error(TRITONSERVER_ERROR_NOT_FOUND,
                                          "model configuration is not provided for "
                                          "model '" +
                                              config.name + "': " + text)
                                  : Error::InvalidArgument(text);
  }
  if (config.outputs.empty() && !config.states.empty()) {
    return Error::InvalidArgument("model '" + config.name + "': " + advice("output"));
  }
  return {};
}

/// Marks the inputs that become numbers, which the session reads itself.
void KeepNumbersInHostMemory(TorchPlan* plan) {
  for (size_t i = 0; i < plan->run.inputs.size() && !plan->naming.dictionary; ++i) {
    plan->run.inputs[i].in_host_memory =
        plan->forward.arguments[plan->naming.arguments[i]].type.number();
  }
}

/// Logs what the parameters decide, in Triton's words.
void LogSettings(const ModelConfig& config, const RunSettings& settings) {
  const auto log = [&](const std::string& what, bool enabled) {
    NEREID_BACKEND_LOG(INFO, what + " is " + (enabled ? "enabled" : "disabled") +
                                 " for model instance '" + config.name + "'");
  };
  log("Optimized execution", settings.optimized_execution);
  log("Inference Mode", settings.inference_mode);
  for (const auto& [parameter, what] :
       std::map<std::string, std::string>{{"ENABLE_CACHE_CLEANING", "Cache Cleaning"},
                                          {"ENABLE_TENSOR_FUSER", "Tensor fuser"},
                                          {"ENABLE_WEIGHT_SHARING", "Weight sharing"},
                                          {"ENABLE_JIT_PROFILING", "Jit profiling"},
                                          {"ENABLE_JIT_EXECUTOR", "Jit executor"}}) {
    bool enabled = false;
    if (config.parameters.Find(parameter) != nullptr &&
        config.parameters.ReadBool(parameter, &enabled).ok()) {
      log(what, enabled);
    }
  }
}

/// Warns of a module that leaves state for the next request, whichever client sends it.
void WarnOfState(const ModelConfig& config, const SideEffects& effects) {
  if (config.has_sequence_batching || effects.changed_attributes.empty()) {
    return;
  }
  std::string names;
  for (const std::string& name : effects.changed_attributes) {
    names += (names.empty() ? "'" : ", '") + name + "'";
  }
  NEREID_BACKEND_LOG(
      WARN, "model '" + config.name + "': forward changes the module's attributes (" + names +
                "), so each request depends on those before it, of all clients and instances. Use "
                "sequence_batching with one instance (instance_group { kind: KIND_CPU count: 1 }), "
                "or let forward take and return the state (sequence_batching.state)");
}

}  // namespace

Error TorchModel::Load(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  std::filesystem::path path;
  NEREID_BACKEND_TRY(framework::FindVersionFile(config_, "model.pt", &path));
  path_ = path.string();
  const framework::Placement placement =
      framework::FirstPlacement(config_, environment_.PrefersGpu());
  ModulePointer module;
  NEREID_BACKEND_TRY(Open(placement, &module));
  NEREID_BACKEND_TRY(MakePlan(*module, placement.on_gpu()));
  const base::MutexLock lock(mutex_);
  modules_[placement] = std::move(module);
  return {};
}

Error TorchModel::PrepareThreads(uint32_t /*threads*/) {
  if (framework::FirstPlacement(config_, environment_.PrefersGpu()).on_gpu()) {
    return Error::Unsupported("the model runs on a GPU");
  }
  return {};
}

Error TorchModel::MakePlan(const torch::jit::Module& module, bool on_gpu) {
  auto plan = std::make_shared<TorchPlan>();
  ProcessSettings process;
  NEREID_BACKEND_TRY(ReadSettings(config_, base::UsableCpuCount(), &plan->settings, &process));
  LogSettings(config_, plan->settings);
  NEREID_BACKEND_TRY(ReadForward(config_.name, module, &plan->forward));
  NEREID_BACKEND_TRY(CheckWritten(config_, plan->forward));
  std::vector<NamedTensor> inputs;
  std::vector<NamedTensor> outputs;
  NEREID_BACKEND_TRY(NameTensors(config_, &inputs, &outputs));
  NEREID_BACKEND_TRY(MakeNaming(config_.name, inputs, outputs, plan->forward, &plan->naming));
  framework::FrameworkTraits traits{"PyTorch", "PyTorch model"};
  traits.omits_inputs = true;
  NEREID_BACKEND_TRY(framework::MakePlan(
      config_, SignatureOf(inputs, outputs, plan->forward, plan->naming), traits, &plan->run));
  plan->run.open_outputs = config_.outputs.empty();
  KeepNumbersInHostMemory(plan.get());
  plan->effects = FindSideEffects(module);
  WarnOfState(config_, plan->effects);
  plan_ = std::move(plan);
  ApplyProcessSettings(config_.name, process, on_gpu);
  return {};
}

Error TorchModel::Open(framework::Placement placement, ModulePointer* module) const {
  if (placement.on_gpu() && !environment_.cuda_problem.empty()) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 "model '" + config_.name + "': PyTorch cannot use GPU " +
                     std::to_string(placement.gpu) + ": " + environment_.cuda_problem +
                     "; or set the instance group's kind to KIND_CPU");
  }
  return LoadModule(config_.name, path_, placement.gpu, module);
}

Error TorchModel::ModuleForInstance(framework::Placement placement, ModulePointer* module) const {
  // Instances that share a module that keeps nothing give the same answers as with one each. On
  // GPUs the configuration decides.
  const bool shared =
      plan_->settings.weight_sharing || (plan_->effects.leaves_nothing && !placement.on_gpu());
  {
    const base::MutexLock lock(mutex_);
    if (const auto found = modules_.find(placement); found != modules_.end()) {
      *module = found->second;
      if (!shared) {
        modules_.erase(found);
      }
      return {};
    }
    if (shared) {  // with the lock held, so that parallel loads do not open it twice
      NEREID_BACKEND_TRY(Open(placement, module));
      modules_[placement] = *module;
      return {};
    }
  }
  return Open(placement, module);
}

Error TorchModel::MakeRunner(TRITONBACKEND_ModelInstance* instance,
                             std::unique_ptr<framework::Runner>* runner) const {
  framework::Placement placement;
  NEREID_BACKEND_TRY(framework::ReadPlacement(instance, &placement));
  ModulePointer module;
  NEREID_BACKEND_TRY(ModuleForInstance(placement, &module));
  const std::shared_ptr<const framework::RunPlan> run(plan_, &plan_->run);
  return CatchTorch("model '" + config_.name + "'", [&]() -> Error {
    *runner = std::make_unique<framework::Runner>(
        run, MakeSession(plan_, std::move(module), placement.gpu),
        placement.on_gpu() ? instance : nullptr);
    return {};
  });
}

}  // namespace nereid::pytorch
