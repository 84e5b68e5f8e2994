// SPDX-License-Identifier: Apache-2.0
#include "pytorch/model.h"

#include <filesystem>

#include "nereid/backend/data_type.h"
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
  return Error::InvalidArgument("model '" + config.name + "': " + kind + " '" + name +
                                "' has the data type " + backend::DataTypeToConfig(type) +
                                ", which PyTorch tensors do not have");
}

/// Texts are lists, which have one dimension.
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

/// TorchScript says neither types nor shapes: what the configuration names is the signature.
Error NameTensors(const ModelConfig& config, const ForwardSignature& forward,
                  framework::ModelSignature* signature) {
  const auto add = [](const std::string& name, std::vector<TensorSignature>* tensors) {
    if (framework::FindTensor(*tensors, name) < 0) {
      tensors->emplace_back().name = name;
    }
  };
  for (const auto& input : config.inputs) {
    NEREID_BACKEND_TRY(CheckType(config, "input", input.name, input.data_type));
    NEREID_BACKEND_TRY(CheckText(config, "input", input));
    add(input.name, &signature->inputs);
  }
  for (const backend::ControlConfig& control : config.controls) {
    NEREID_BACKEND_TRY(CheckType(config, "control input", control.name, control.data_type));
    add(control.name, &signature->inputs);
  }
  for (const auto& state : config.states) {
    NEREID_BACKEND_TRY(CheckType(config, "state", state.input_name, state.output.data_type));
    add(state.input_name, &signature->inputs);
  }
  for (const auto& output : config.outputs) {
    NEREID_BACKEND_TRY(CheckType(config, "output", output.name, output.data_type));
    NEREID_BACKEND_TRY(CheckText(config, "output", output));
    add(output.name, &signature->outputs);
  }
  for (const auto& state : config.states) {
    add(state.output.name, &signature->outputs);
  }
  for (TensorSignature& input : signature->inputs) {
    const int place = [&] {
      for (size_t i = 0; i < forward.arguments.size(); ++i) {
        if (forward.arguments[i] == input.name) return static_cast<int>(i);
      }
      return -1;
    }();
    input.has_default = place >= 0 && forward.has_default[static_cast<size_t>(place)];
  }
  return {};
}

std::vector<std::string> NamesOf(const auto& tensors) {
  std::vector<std::string> names;
  for (const auto& tensor : tensors) {
    names.push_back(tensor.name);
  }
  return names;
}

}  // namespace

Error TorchModel::Load(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  const std::string& file = config_.default_model_filename;
  path_ = (std::filesystem::path(config_.directory) / std::to_string(config_.version) /
           (file.empty() ? "model.pt" : file))
              .string();
  std::shared_ptr<torch::jit::Module> module;
  NEREID_BACKEND_TRY(LoadModule(config_, path_, &module));
  if (config_.inputs.empty() || config_.outputs.empty()) {
    return Error::InvalidArgument(
        "model '" + config_.name +
        "': a TorchScript file says neither types nor shapes; write input and output into the "
        "configuration");
  }
  NEREID_BACKEND_TRY(MakePlan(*module));
  if (plan_->settings.weight_sharing || config_.instance_count == 1) {
    shared_module_ = std::move(module);
  }
  return {};
}

Error TorchModel::MakePlan(const torch::jit::Module& module) {
  auto plan = std::make_shared<TorchPlan>();
  NEREID_BACKEND_TRY(ReadRunSettings(config_, &plan->settings));
  NEREID_BACKEND_TRY(ReadForward(config_.name, module, &plan->forward));
  framework::ModelSignature signature;
  NEREID_BACKEND_TRY(NameTensors(config_, plan->forward, &signature));
  NEREID_BACKEND_TRY(framework::MakePlan(config_, signature, "PyTorch", &plan->run));
  NEREID_BACKEND_TRY(MakeNaming(config_.name, NamesOf(plan->run.inputs), NamesOf(plan->run.outputs),
                                plan->forward.arguments, plan->forward.takes_dictionary,
                                &plan->naming));
  plan_ = std::move(plan);
  return {};
}

Error TorchModel::MakeRunner(TRITONBACKEND_ModelInstance* instance,
                             std::unique_ptr<framework::Runner>* runner) const {
  NEREID_BACKEND_TRY(framework::RequireCpu(instance, config_, "PyTorch"));
  std::shared_ptr<torch::jit::Module> module = shared_module_;
  if (module == nullptr) {
    NEREID_BACKEND_TRY(LoadModule(config_, path_, &module));
  }
  const std::shared_ptr<const framework::RunPlan> run(plan_, &plan_->run);
  *runner = std::make_unique<framework::Runner>(run, MakeSession(plan_, std::move(module)));
  return {};
}

}  // namespace nereid::pytorch
