// SPDX-License-Identifier: Apache-2.0
#include "openvino/model.h"

#include <algorithm>
#include <openvino/openvino.hpp>

#include "base/cpus.h"
#include "framework/complete_config.h"
#include "framework/varied_session.h"
#include "nereid/backend/log.h"
#include "openvino/model_file.h"
#include "openvino/ov_error.h"
#include "openvino/read_model.h"
#include "openvino/signature.h"

namespace nereid::openvino {
namespace {

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

std::shared_ptr<ov::Core> MakeCore() {
  auto core = std::make_shared<ov::Core>();
  // Weights are read and not mapped: truncating a mapped file while its model is loaded would end
  // the process.
  core->set_property(ov::enable_mmap(false));
  return core;
}

/// Checks that a model with a fixed batch has no inputs or outputs without a batch dimension.
Error CheckFixedBatch(const backend::ModelConfig& config, const Settings& settings) {
  const bool ragged =
      !config.batch_inputs.empty() || !config.batch_outputs.empty() ||
      std::any_of(config.inputs.begin(), config.inputs.end(),
                  [](const backend::TensorConfig& input) { return input.allow_ragged_batch; });
  return settings.fixed_batch && ragged
             ? Error::InvalidArgument(
                   "model '" + config.name +
                   "': SKIP_OV_DYNAMIC_BATCHSIZE gives each run max_batch_size rows, so there can "
                   "be no allow_ragged_batch, batch_input or batch_output; remove the parameter")
             : Error();
}

}  // namespace

Error Environment::Load(TRITONBACKEND_Backend* backend) {
  NEREID_BACKEND_TRY(backend::ReadBackendConfig(backend, &settings));
  return Start();
}

Error Environment::Start() {
  return CatchOpenVino("OpenVINO cannot be started", [&]() -> Error {
    core = MakeCore();
    return {};
  });
}

Error OpenVinoModel::Load(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  Settings settings;
  NEREID_BACKEND_TRY(ReadSettings(config_, &settings));
  if (!settings.ignored.empty()) {
    NEREID_BACKEND_LOG(WARN, "model '" + config_.name + "': OpenVINO's CPU device has no use for " +
                                 Join(settings.ignored));
  }
  std::string path;
  NEREID_BACKEND_TRY(FindModelFile(config_, &path));
  return Open(model, path, settings);
}

Error OpenVinoModel::LoadAccelerated(TRITONBACKEND_Model* model, const std::string& path,
                                     const backend::Parameters& accelerator) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  Settings settings;
  NEREID_BACKEND_TRY(ReadAcceleratorSettings(config_, accelerator, &settings));
  return Open(model, path, settings);
}

Error OpenVinoModel::ChooseCore(const Settings& settings) {
  core_ = environment_.core;
  if (!settings.extension.empty()) {
    NEREID_BACKEND_TRY(CatchOpenVino("model '" + config_.name + "': CPU_EXTENSION_PATH '" +
                                         settings.extension + "' cannot be used",
                                     [&]() -> Error {
                                       core_ = MakeCore();
                                       core_->add_extension(settings.extension);
                                       return {};
                                     }));
  }
  return CatchOpenVino("OpenVINO cannot list its devices", [&]() -> Error {
    const std::vector<std::string> devices = core_->get_available_devices();
    const std::string family = settings.device.substr(0, settings.device.find_first_of(".:"));
    if (family == "AUTO" || family == "HETERO" || family == "MULTI" ||
        std::any_of(devices.begin(), devices.end(), [&](const std::string& device) {
          return device == settings.device || device.substr(0, device.find('.')) == settings.device;
        })) {
      return {};
    }
    return Error::InvalidArgument(
        "model '" + config_.name + "': the device '" + settings.device +
        "' is not among those that OpenVINO finds here: " + Join(devices));
  });
}

Error OpenVinoModel::Open(TRITONBACKEND_Model* model, const std::string& path,
                          const Settings& settings) {
  NEREID_BACKEND_TRY(CheckFixedBatch(config_, settings));
  NEREID_BACKEND_TRY(ChooseCore(settings));
  std::shared_ptr<ov::Model> read;
  NEREID_BACKEND_TRY(ReadModel(core_.get(), config_, settings, path, &read));
  framework::ModelSignature signature;
  const auto describe = [&]() -> Error {
    signature = DescribeModel(*read, config_);
    return {};
  };
  NEREID_BACKEND_TRY(CatchOpenVino("model '" + config_.name + "'", describe));
  const bool batching = config_.batching();
  if (!batching && LayoutsHaveBatch(*read)) {
    OpenBatch(&signature);
  }
  NEREID_BACKEND_TRY(framework::CompleteModel(model, signature, environment_.settings,
                                              framework::Completion::kLists, &config_));
  if (!batching && config_.batching()) {
    NEREID_BACKEND_TRY(SetBatch(config_, settings, read.get()));
  }
  NEREID_BACKEND_TRY(CatchOpenVino("model '" + config_.name + "'", describe));
  auto plan = std::make_shared<SessionPlan>();
  plan->input_count = signature.inputs.size();
  plan->output_count = signature.outputs.size();
  AddVariables(*read, &signature);
  if (settings.fixed_batch) {
    plan->fixed_batch = config_.max_batch_size;
    plan->pad_batch = settings.pad_batch;
    HideFixedBatch(plan->fixed_batch, &signature);
  }
  for (size_t i = plan->input_count; i < signature.inputs.size(); ++i) {
    plan->variables.push_back(signature.inputs[i].name);
  }
  NEREID_BACKEND_TRY(framework::MakePlan(
      config_, signature, framework::FrameworkTraits{"OpenVINO", "OpenVINO model"}, &plan->run));
  plan_ = std::move(plan);
  model_settings_ = settings;
  path_ = path;
  NEREID_BACKEND_TRY(
      Compile(read, settings.varies ? PropertiesFor(1) : settings.properties, &compiled_));
  if (settings.varies) {
    by_threads_->Add(1, compiled_);
  }
  return {};
}

ov::AnyMap OpenVinoModel::PropertiesFor(uint32_t threads) const {
  return ForThreads(model_settings_, threads, config_.instance_count, base::UsableCpuCount());
}

Error OpenVinoModel::Compile(const std::shared_ptr<ov::Model>& model, const ov::AnyMap& properties,
                             std::shared_ptr<ov::CompiledModel>* compiled) const {
  return CatchOpenVino("model '" + config_.name + "': '" + path_ + "' cannot be compiled",
                       [&]() -> Error {
                         *compiled = std::make_shared<ov::CompiledModel>(
                             core_->compile_model(model, model_settings_.device, properties));
                         return {};
                       });
}

Error OpenVinoModel::PrepareThreads(uint32_t threads) {
  if (!model_settings_.varies) {
    return Error::Unsupported("the number of threads is fixed");
  }
  if (by_threads_->Find(threads) != nullptr) {
    return {};
  }
  std::shared_ptr<ov::Model> read;
  NEREID_BACKEND_TRY(ReadModel(core_.get(), config_, model_settings_, path_, &read));
  std::shared_ptr<ov::CompiledModel> compiled;
  NEREID_BACKEND_TRY(Compile(read, PropertiesFor(threads), &compiled));
  by_threads_->Add(threads, std::move(compiled));
  return {};
}

Error OpenVinoModel::MakeRunner(TRITONBACKEND_ModelInstance* instance,
                                std::unique_ptr<framework::Runner>* runner) {
  NEREID_BACKEND_TRY(framework::RequireCpu(instance, config_, "OpenVINO"));
  return CatchOpenVino("model '" + config_.name + "'", [&]() -> Error {
    auto session = MakeSession(plan_, compiled_->create_infer_request());
    if (model_settings_.varies) {
      session = std::make_unique<framework::VariedSession>(
          std::move(session), [plan = plan_, compiled = by_threads_](uint32_t threads) {
            const auto found = compiled->Find(threads);
            return found == nullptr ? nullptr : MakeSession(plan, found->create_infer_request());
          });
    }
    *runner = std::make_unique<framework::Runner>(
        std::shared_ptr<const framework::RunPlan>(plan_, &plan_->run), std::move(session));
    return {};
  });
}

}  // namespace nereid::openvino
