// SPDX-License-Identifier: Apache-2.0
#include "app/tools/migrate/ensemble_of_pipeline.h"

#include <algorithm>
#include <set>

#include "app/tools/migrate/migrated_config.h"

namespace nereid::app::tools {
namespace {

using base::Status;

constexpr std::string_view kRequest = "request";

const DraftTensor* FindTensor(const std::vector<DraftTensor>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const DraftTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

/// The ensemble while it is made. Its tensors are the inputs and outputs of the pipeline, by their
/// names, and the others as "node.item".
class Ensemble {
 public:
  Ensemble(const MigratedPipeline& pipeline, const std::map<std::string, ConfigDraft>& models)
      : pipeline_(pipeline), models_(models) {}

  base::Result<std::string> Text() {
    NEREID_RETURN_IF_ERROR(CheckNodes());
    NEREID_RETURN_IF_ERROR(NameTensors());
    std::string steps;
    for (const PipelineNode& node : pipeline_.nodes) {
      NEREID_ASSIGN_OR_RETURN(const std::string step, StepText(node));
      steps += step;
    }
    std::string text = "# Made by nereid migrate.\nplatform: \"ensemble\"\nmax_batch_size: 0\n";
    NEREID_ASSIGN_OR_RETURN(const std::string inputs, InputsText());
    NEREID_ASSIGN_OR_RETURN(const std::string outputs, OutputsText());
    return text + inputs + outputs + "ensemble_scheduling {\n" + steps + "}\n";
  }

 private:
  Status Unsupported(const std::string& why) const { return Status::Unsupported(why); }

  Status CheckNodes() {
    if (!pipeline_.obstacle.empty()) return Unsupported(pipeline_.obstacle);
    for (const PipelineNode& node : pipeline_.nodes) {
      const std::string name = "the node '" + node.name + "' ";
      if (!node.obstacle.empty()) return Unsupported(name + node.obstacle);
      if (!models_.contains(node.model)) {
        return Status::InvalidArgument(name + "needs the model '" + node.model +
                                       "', which was not converted");
      }
      if (node.name == kRequest || !nodes_.emplace(node.name, &node).second) {
        return Status::InvalidArgument("two nodes are called '" + node.name + "'");
      }
    }
    return {};
  }

  /// Names what the pipeline returns, and checks that no two tensors have one name.
  Status NameTensors() {
    std::set<std::string> names(pipeline_.inputs.begin(), pipeline_.inputs.end());
    for (const auto& [label, place] : pipeline_.outputs) {
      if (place.node == kRequest) {
        return Unsupported("the output '" + label + "' is an input of the pipeline");
      }
      if (!names.insert(label).second) {
        return Unsupported("two inputs or outputs are called '" + label + "'");
      }
      if (!labels_.emplace(std::pair(place.node, place.item), label).second) {
        return Unsupported("two outputs are the same tensor of the node '" + place.node + "'");
      }
    }
    for (const PipelineNode& node : pipeline_.nodes) {
      for (const auto& [item, output] : node.outputs) {
        if (!labels_.contains({node.name, item}) && names.contains(node.name + "." + item)) {
          return Unsupported("a tensor is called '" + node.name + "." + item + "'");
        }
      }
    }
    return {};
  }

  std::string NameOf(const std::string& node, const std::string& item) const {
    if (node == kRequest) return item;
    const auto label = labels_.find({node, item});
    return label == labels_.end() ? node + "." + item : label->second;
  }

  /// Returns the output of the node's model that `item` stands for.
  base::Result<std::string> OutputOf(const PipelineTensor& place) const {
    const auto node = nodes_.find(place.node);
    if (node == nodes_.end()) {
      return Status::InvalidArgument("there is no node '" + place.node + "'");
    }
    for (const auto& [item, output] : node->second->outputs) {
      // Without an alias an output is called as in the model.
      if ((item.empty() ? output : item) == place.item) return output;
    }
    return Status::InvalidArgument("the node '" + place.node + "' has no output '" + place.item +
                                   "'");
  }

  base::Result<std::string> StepText(const PipelineNode& node) {
    std::string text = "  step {\n    model_name: " + QuotedText(node.model) + "\n";
    text += "    model_version: " + std::to_string(node.version.value_or(-1)) + "\n";
    for (const auto& [input, place] : node.inputs) {
      if (place.node == kRequest) {
        if (std::find(pipeline_.inputs.begin(), pipeline_.inputs.end(), place.item) ==
            pipeline_.inputs.end()) {
          return Status::InvalidArgument("the pipeline has no input '" + place.item + "'");
        }
        consumers_.emplace(place.item, std::pair(&node, input));
      } else {
        NEREID_ASSIGN_OR_RETURN(const std::string checked, OutputOf(place));
      }
      text += "    input_map { key: " + QuotedText(input) +
              " value: " + QuotedText(NameOf(place.node, place.item)) + " }\n";
    }
    for (const auto& [alias, output] : node.outputs) {
      const std::string& item = alias.empty() ? output : alias;
      text += "    output_map { key: " + QuotedText(output) +
              " value: " + QuotedText(NameOf(node.name, item)) + " }\n";
    }
    return text + "  }\n";
  }

  /// Returns a tensor of the ensemble with the type and the shape of a tensor of a model.
  base::Result<std::string> TensorText(const char* list, const std::string& name,
                                       const PipelineNode& node, const DraftTensor* tensor,
                                       const std::string& named) const {
    if (tensor == nullptr) {
      return Status::InvalidArgument("the model '" + node.model + "' has no tensor '" + named +
                                     "'");
    }
    std::string dims;
    for (const int64_t dim : tensor->dims) {
      dims += (dims.empty() ? " " : ", ") + std::to_string(dim < 1 ? -1 : dim);
    }
    return std::string(list) + " { name: " + QuotedText(name) +
           " data_type: " + std::string(tensor::DataTypeConfigName(tensor->data_type)) +
           " dims: [" + (dims.empty() ? " 1" : dims) + " ] }\n";
  }

  base::Result<std::string> InputsText() const {
    std::string text;
    for (const std::string& name : pipeline_.inputs) {
      const auto consumer = consumers_.find(name);
      if (consumer == consumers_.end()) {
        return Unsupported("no node uses the input '" + name + "'");
      }
      const auto& [node, input] = consumer->second;
      NEREID_ASSIGN_OR_RETURN(const std::string tensor,
                              TensorText("input", name, *node,
                                         FindTensor(models_.at(node->model).inputs, input), input));
      text += tensor;
    }
    return text;
  }

  base::Result<std::string> OutputsText() const {
    std::string text;
    for (const auto& [label, place] : pipeline_.outputs) {
      NEREID_ASSIGN_OR_RETURN(const std::string output, OutputOf(place));
      const PipelineNode& node = *nodes_.at(place.node);
      NEREID_ASSIGN_OR_RETURN(
          const std::string tensor,
          TensorText("output", label, node, FindTensor(models_.at(node.model).outputs, output),
                     output));
      text += tensor;
    }
    return text;
  }

  const MigratedPipeline& pipeline_;
  const std::map<std::string, ConfigDraft>& models_;
  std::map<std::string, const PipelineNode*> nodes_;
  std::map<std::pair<std::string, std::string>, std::string> labels_;  // node and item → output
  std::map<std::string, std::pair<const PipelineNode*, std::string>> consumers_;  // of inputs
};

}  // namespace

base::Result<std::string> EnsembleOfPipeline(const MigratedPipeline& pipeline,
                                             const std::map<std::string, ConfigDraft>& models) {
  return Ensemble(pipeline, models).Text();
}

}  // namespace nereid::app::tools
