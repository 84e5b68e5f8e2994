// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/model.h"

#include <filesystem>

#include "framework/complete_config.h"
#include "framework/version_file.h"
#include "nereid/backend/json.h"
#include "nereid/backend/log.h"
#include "tensorflow/session.h"

namespace nereid::tensorflow {
namespace {

constexpr const char* kSavedModel = "tensorflow_savedmodel";
constexpr const char* kGraphDef = "tensorflow_graphdef";

/// Determines whether a model is a SavedModel or a GraphDef: from the platform or, if only the
/// backend is configured, from its files.
Error FindPlatform(TRITONBACKEND_Model* model, const backend::ModelConfig& config,
                   std::string* platform) {
  rapidjson::Document document;
  NEREID_BACKEND_TRY(backend::ReadConfigDocument(model, &document));
  *platform = backend::TextOf(backend::Member(&document, "platform"));
  if (*platform == kSavedModel || *platform == kGraphDef) {
    return {};
  }
  if (!platform->empty()) {
    return Error::InvalidArgument("model '" + config.name + "': the TensorFlow backend runs the " +
                                  "platforms " + kSavedModel + " and " + kGraphDef + ", not '" +
                                  *platform + "'");
  }
  std::filesystem::path path;
  NEREID_BACKEND_TRY(framework::FindVersionFile(config, "model.savedmodel", &path));
  std::error_code failure;
  *platform = std::filesystem::is_directory(path, failure) ? kSavedModel : kGraphDef;
  return {};
}

/// Lets control inputs have any shape, because TensorFlow does not compare the shape of a fed
/// tensor with that of its placeholder.
void LeaveControlsOpen(const backend::ModelConfig& config,
                       std::vector<framework::TensorSignature>* inputs) {
  for (const backend::ControlConfig& control : config.controls) {
    if (const int place = framework::FindTensor(*inputs, control.name); place >= 0) {
      (*inputs)[static_cast<size_t>(place)].shape_binds = false;
    }
  }
}

}  // namespace

Error TensorFlowModel::Load(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  std::string platform;
  NEREID_BACKEND_TRY(FindPlatform(model, config_, &platform));
  const bool saved_model = platform == kSavedModel;
  std::filesystem::path path;
  NEREID_BACKEND_TRY(framework::FindVersionFile(
      config_, saved_model ? "model.savedmodel" : "model.graphdef", &path));
  auto loaded = std::make_shared<LoadedGraph>();
  NEREID_BACKEND_TRY(
      (saved_model ? LoadSavedModel : LoadGraphDef)(config_, path.string(), loaded.get()));
  if (saved_model) {
    NEREID_BACKEND_TRY(framework::CompleteModel(model, loaded->signature, backend_.settings,
                                                framework::Completion::kEntries, &config_));
    NEREID_BACKEND_TRY(framework::CheckInputNames(config_, loaded->signature));
  }
  LeaveControlsOpen(config_, &loaded->signature.inputs);
  auto plan = std::make_shared<framework::RunPlan>();
  framework::FrameworkTraits traits{"TensorFlow", "TensorFlow model"};
  // A run needs the inputs of the outputs that it computes only.
  traits.omits_inputs = true;
  NEREID_BACKEND_TRY(framework::MakePlan(config_, loaded->signature, traits, plan.get()));
  plan_ = std::move(plan);
  graph_ = std::move(loaded);
  return {};
}

Error TensorFlowModel::MakeRunner(TRITONBACKEND_ModelInstance* instance,
                                  std::unique_ptr<framework::Runner>* runner) const {
  NEREID_BACKEND_TRY(framework::RequireCpu(instance, config_, "TensorFlow"));
  *runner =
      std::make_unique<framework::Runner>(plan_, std::make_unique<GraphSession>(graph_, plan_));
  return {};
}

}  // namespace nereid::tensorflow
