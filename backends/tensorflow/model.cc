// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/model.h"

#include <algorithm>
#include <filesystem>

#include "framework/complete_config.h"
#include "framework/version_file.h"
#include "nereid/backend/json.h"
#include "nereid/backend/log.h"
#include "tensorflow/session.h"
#include "tensorflow/session_config.h"

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

bool SameNames(const std::vector<framework::TensorSignature>& a,
               const std::vector<framework::TensorSignature>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.name == y.name; });
}

}  // namespace

Error TensorFlowModel::Open(std::shared_ptr<LoadedGraph>* graph) const {
  *graph = std::make_shared<LoadedGraph>();
  return (saved_model_ ? LoadSavedModel : LoadGraphDef)(config_, path_, graph->get());
}

Error TensorFlowModel::Load(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  std::string platform;
  NEREID_BACKEND_TRY(FindPlatform(model, config_, &platform));
  saved_model_ = platform == kSavedModel;
  std::filesystem::path path;
  NEREID_BACKEND_TRY(framework::FindVersionFile(
      config_, saved_model_ ? "model.savedmodel" : "model.graphdef", &path));
  path_ = path.string();
  std::shared_ptr<LoadedGraph> loaded;
  NEREID_BACKEND_TRY(Open(&loaded));
  NEREID_BACKEND_TRY(ReadSharers(config_, loaded->changes_state, &sharers_));
  if (saved_model_) {
    NEREID_BACKEND_TRY(framework::CompleteModel(model, loaded->signature, backend_.settings,
                                                framework::Completion::kEntries, &config_));
    NEREID_BACKEND_TRY(framework::CheckInputNames(config_, loaded->signature));
  }
  if (!saved_model_ && (config_.inputs.empty() || config_.outputs.empty())) {
    NEREID_BACKEND_LOG(WARN,
                       "model '" + config_.name +
                           "': a GraphDef does not say what its inputs and outputs are, and the "
                           "configuration lists no " +
                           (config_.inputs.empty() ? "inputs" : "outputs"));
  }
  LeaveControlsOpen(config_, &loaded->signature.inputs);
  auto plan = std::make_shared<framework::RunPlan>();
  framework::FrameworkTraits traits{"TensorFlow", "TensorFlow model"};
  // A run needs the inputs of the outputs that it computes only.
  traits.omits_inputs = true;
  NEREID_BACKEND_TRY(framework::MakePlan(config_, loaded->signature, traits, plan.get()));
  plan_ = std::move(plan);
  const base::MutexLock lock(mutex_);
  graph_ = std::move(loaded);
  return {};
}

Error TensorFlowModel::GraphForInstance(std::shared_ptr<const LoadedGraph>* graph) const {
  // The lock is held while a session is opened, so that instances which are loaded in parallel
  // share as many as they should.
  const base::MutexLock lock(mutex_);
  if (graph_->changes_state && users_ >= sharers_) {
    std::shared_ptr<LoadedGraph> opened;
    NEREID_BACKEND_TRY(Open(&opened));
    if (!SameNames(opened->signature.inputs, graph_->signature.inputs) ||
        !SameNames(opened->signature.outputs, graph_->signature.outputs)) {
      return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                   "model '" + config_.name + "': " + path_ +
                       " has other inputs and outputs than when the model was loaded");
    }
    graph_ = std::move(opened);
    users_ = 0;
  }
  ++users_;
  *graph = graph_;
  return {};
}

Error TensorFlowModel::MakeRunner(TRITONBACKEND_ModelInstance* instance,
                                  std::unique_ptr<framework::Runner>* runner) const {
  NEREID_BACKEND_TRY(framework::RequireCpu(instance, config_, "TensorFlow"));
  std::shared_ptr<const LoadedGraph> graph;
  NEREID_BACKEND_TRY(GraphForInstance(&graph));
  *runner = std::make_unique<framework::Runner>(
      plan_, std::make_unique<GraphSession>(std::move(graph), plan_));
  return {};
}

}  // namespace nereid::tensorflow
