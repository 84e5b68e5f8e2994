// SPDX-License-Identifier: Apache-2.0
// Rules for ensembles that need only the ensemble's own configuration. For the rules about members
// see ensemble_members.h.
#include <deque>
#include <map>
#include <set>

#include "config/known_backends.h"
#include "config/rules/sections.h"

namespace nereid::config::rules {
namespace {

namespace pb = google::protobuf;

using Step = inference::ModelEnsembling::Step;

void PlatformIsEnsemble(const Proto& config, Findings& findings) {
  if (config.platform() == kEnsemblePlatform) return;
  findings.Add("platform", "ensemble scheduling cannot be set for model '" + config.name() +
                               "' whose platform is not ensemble");
}

constexpr Rule<Proto> kPlatformRules[] = {
    {{"ensemble.platform", "platform", "Ensemble scheduling needs the platform \"ensemble\".",
      "\"ensemble\"", "Set platform to \"ensemble\", or remove ensemble_scheduling."},
     PlatformIsEnsemble},
};

void NoInstanceGroup(const Proto& config, Findings& findings) {
  if (config.instance_group().empty()) return;
  findings.Add("instance_group",
               "instance group should not be specified for ensemble '" + config.name() + "'");
}

void NoOptimization(const Proto& config, Findings& findings) {
  if (!config.has_optimization()) return;
  findings.Add("optimization",
               "optimization should not be specified for ensemble '" + config.name() + "'");
}

void NoWarmup(const Proto& config, Findings& findings) {
  if (config.model_warmup().empty()) return;
  findings.Add("model_warmup",
               "model_warmup can not be specified for ensemble '" + config.name() + "'");
}

void HasStep(const Proto& config, Findings& findings) {
  if (!config.ensemble_scheduling().step().empty()) return;
  findings.Add("ensemble_scheduling.step",
               "must specify 'step' for ensemble '" + config.name() + "'");
}

constexpr Rule<Proto> kRules[] = {
    {{"ensemble.instance_group", "instance_group",
      "An ensemble has no instances: its members have.", "no instance_group",
      "Remove instance_group, and set it in the members."},
     NoInstanceGroup},
    {{"ensemble.optimization", "optimization", "An ensemble has no optimization settings.",
      "no optimization", "Remove optimization, and set it in the members."},
     NoOptimization},
    {{"ensemble.warmup", "model_warmup", "An ensemble has no warmup: its members have.",
      "no model_warmup", "Remove model_warmup, and set it in the members."},
     NoWarmup},
    {{"ensemble.step", "ensemble_scheduling.step", "An ensemble has steps.", "one step or more",
      "Add a step for every member."},
     HasStep},
};

// Checks a model that has no ensemble scheduling.
void HasScheduling(const Proto& config, Findings& findings) {
  if (config.platform() != kEnsemblePlatform) return;
  findings.Add("ensemble_scheduling", "ensemble scheduling must be set for ensemble " +
                                          config.name() + " whose platform is ensemble");
}

constexpr Rule<Proto> kMissingRules[] = {
    {{"ensemble.scheduling", "ensemble_scheduling",
      "The platform \"ensemble\" needs ensemble scheduling.", "ensemble_scheduling",
      "Add ensemble_scheduling with the steps, or name another platform or backend."},
     HasScheduling},
};

struct StepSubject {
  const Proto& config;
  const Step& step;
  int index;
  // The tensors that earlier steps write.
  const std::set<std::string>& written;

  std::string Path(std::string_view field) const {
    return At("ensemble_scheduling.step", index) + "." + std::string(field);
  }
};

void Require(const StepSubject& subject, bool given, const std::string& field, Findings& findings) {
  if (given) return;
  findings.Add(subject.Path(field), "must specify '" + field + "' in step " +
                                        std::to_string(subject.index) + " of ensemble '" +
                                        subject.config.name() + "'");
}

void StepHasModel(const StepSubject& subject, Findings& findings) {
  Require(subject, !subject.step.model_name().empty(), "model_name", findings);
}

void StepHasInputs(const StepSubject& subject, Findings& findings) {
  Require(subject, !subject.step.input_map().empty(), "input_map", findings);
}

void StepHasOutputs(const StepSubject& subject, Findings& findings) {
  Require(subject, !subject.step.output_map().empty(), "output_map", findings);
}

// Protobuf maps have no order, so entries are sorted.
std::map<std::string, std::string> Sorted(const pb::Map<std::string, std::string>& map) {
  return {map.begin(), map.end()};
}

void WrittenOnce(const StepSubject& subject, Findings& findings) {
  std::set<std::string> written = subject.written;
  for (const auto& [output, tensor] : Sorted(subject.step.output_map())) {
    if (written.insert(tensor).second) continue;
    findings.Add(subject.Path(At("output_map", output)),
                 "ensemble tensor '" + tensor +
                     "' can appear in an output map only once for ensemble '" +
                     subject.config.name() + "' step " + std::to_string(subject.index));
  }
}

constexpr Rule<StepSubject> kStepRules[] = {
    {{"ensemble.step_model", "ensemble_scheduling.step.model_name",
      "A step names the model that it runs.", "the name of a model", "Set model_name."},
     StepHasModel},
    {{"ensemble.step_inputs", "ensemble_scheduling.step.input_map",
      "A step says which tensors its model reads.", "one entry or more",
      "Map the inputs of the model to tensors of the ensemble."},
     StepHasInputs},
    {{"ensemble.step_outputs", "ensemble_scheduling.step.output_map",
      "A step says which tensors its model writes.", "one entry or more",
      "Map the outputs of the model to tensors of the ensemble."},
     StepHasOutputs},
    {{"ensemble.written_once", "ensemble_scheduling.step.output_map",
      "A tensor of an ensemble is written once.", "a tensor that nothing else writes",
      "Give the tensor another name in one of the steps."},
     WrittenOnce},
};

// A tensor of the ensemble. Its sources are all inputs of the step that writes it.
struct Node {
  bool ready = false;
  std::set<std::string> sources;
  std::set<std::string> consumers;
};
using Graph = std::map<std::string, Node>;

Graph BuildGraph(const Proto& config) {
  Graph graph;
  for (const Step& step : config.ensemble_scheduling().step()) {
    for (const auto& [output, written] : step.output_map()) graph[written];
    for (const auto& [input, read] : step.input_map()) {
      for (const auto& [output, written] : step.output_map()) {
        graph[read].consumers.insert(written);
        graph[written].sources.insert(read);
      }
    }
  }
  // Spreads readiness from the ensemble's inputs: a tensor is ready when all its sources are ready.
  std::deque<std::string> ready;
  for (const auto& input : config.input()) {
    const auto it = graph.find(input.name());
    if (it == graph.end() || it->second.ready) continue;
    it->second.ready = true;
    ready.push_back(it->first);
  }
  while (!ready.empty()) {
    const Node& node = graph[ready.front()];
    ready.pop_front();
    for (const std::string& name : node.consumers) {
      Node& consumer = graph[name];
      if (consumer.ready) continue;
      consumer.ready = true;
      for (const std::string& source : consumer.sources) consumer.ready &= graph[source].ready;
      if (consumer.ready) ready.push_back(name);
    }
  }
  return graph;
}

struct GraphSubject {
  const Proto& config;
  const Graph& graph;
};

// The unbalanced quotes in the next two messages are those of Triton's messages.
void InputsUsed(const GraphSubject& subject, Findings& findings) {
  int index = 0;
  for (const auto& input : subject.config.input()) {
    const std::string path = At("input", index++);
    if (subject.graph.contains(input.name())) continue;
    findings.Add(path, "ensemble input '" + input.name() + "' for ensemble " +
                           subject.config.name() + "' is not used");
  }
}

void OutputsUsed(const GraphSubject& subject, Findings& findings) {
  int index = 0;
  for (const auto& output : subject.config.output()) {
    const std::string path = At("output", index++);
    if (subject.graph.contains(output.name())) continue;
    findings.Add(path, "ensemble output '" + output.name() + "' for ensemble " +
                           subject.config.name() + "' is not used");
  }
}

// Follows the sources of a tensor that is not ready to one that no step writes. In a cycle it stops
// after one round.
std::string FirstUnconnected(const Graph& graph, std::string name) {
  std::set<std::string> seen;
  while (seen.insert(name).second) {
    for (const std::string& source : graph.at(name).sources) {
      if (graph.at(source).ready) continue;
      name = source;
      break;
    }
  }
  return name;
}

void OutputsWritten(const GraphSubject& subject, Findings& findings) {
  int index = 0;
  for (const auto& output : subject.config.output()) {
    const std::string path = At("output", index++);
    const auto it = subject.graph.find(output.name());
    if (it == subject.graph.end() || it->second.ready) continue;
    std::string text = "output '" + output.name() + "' for ensemble '" + subject.config.name() +
                       "' is not written";
    const std::string unconnected = FirstUnconnected(subject.graph, output.name());
    if (unconnected != output.name()) {
      text += ": at least one of its depending tensors, '" + unconnected + "', is not connected";
    }
    findings.Add(path, text);
  }
}

// Returns the first place where a step names the tensor.
std::string PathOfTensor(const Proto& config, const std::string& tensor) {
  int index = 0;
  for (const Step& step : config.ensemble_scheduling().step()) {
    const std::string path = At("ensemble_scheduling.step", index++);
    for (const auto& [output, name] : Sorted(step.output_map())) {
      if (name == tensor) return path + "." + At("output_map", output);
    }
    for (const auto& [input, name] : Sorted(step.input_map())) {
      if (name == tensor) return path + "." + At("input_map", input);
    }
  }
  return "ensemble_scheduling.step";
}

void TensorsUsed(const GraphSubject& subject, Findings& findings) {
  std::set<std::string> outputs;
  for (const auto& output : subject.config.output()) outputs.insert(output.name());
  for (const auto& [name, node] : subject.graph) {
    if (node.ready && (!node.consumers.empty() || outputs.contains(name))) continue;
    findings.Add(
        PathOfTensor(subject.config, name),
        "ensemble tensor '" + name + "' is unused in ensemble '" + subject.config.name() + "'");
  }
}

constexpr Rule<GraphSubject> kEndRules[] = {
    {{"ensemble.inputs_used", "input", "Every input of an ensemble is read by a step.",
      "an input that a step reads", "Map the input in a step's input_map, or remove it."},
     InputsUsed},
    {{"ensemble.outputs_used", "output", "Every output of an ensemble is written by a step.",
      "an output that a step writes", "Map the output in a step's output_map, or remove it."},
     OutputsUsed},
    {{"ensemble.outputs_written", "output",
      "The data of every output of an ensemble comes from the inputs of the ensemble.",
      "an output that depends on tensors that are written",
      "Write the tensor that is not connected in a step's output_map, or list it in input."},
     OutputsWritten},
};

constexpr Rule<GraphSubject> kInnerRules[] = {
    {{"ensemble.tensors_used", "ensemble_scheduling.step",
      "Every tensor of an ensemble is written, and is an output or read by a step.",
      "a tensor that is written and read", "Remove the tensor from the map, or read it."},
     TensorsUsed},
};

}  // namespace

void CheckEnsemble(const Proto& config, Findings& findings) {
  if (!config.has_ensemble_scheduling()) return Apply(kMissingRules, config, findings);
  const size_t before = findings.count();
  Apply(kPlatformRules, config, findings);
  if (findings.count() > before) return;
  Apply(kRules, config, findings);
  const size_t before_steps = findings.count();
  std::set<std::string> written;
  int index = 0;
  for (const Step& step : config.ensemble_scheduling().step()) {
    Apply(kStepRules, StepSubject{config, step, index++, written}, findings);
    for (const auto& [output, tensor] : step.output_map()) written.insert(tensor);
  }
  // If steps are missing or incomplete, the data flow would only repeat those errors.
  const bool steps_wrong = findings.count() > before_steps;
  if (findings.done() || steps_wrong || index == 0) return;
  const Graph graph = BuildGraph(config);
  const GraphSubject subject{config, graph};
  const size_t before_ends = findings.count();
  Apply(kEndRules, subject, findings);
  if (findings.count() == before_ends) Apply(kInnerRules, subject, findings);
}

void ListEnsemble(std::vector<RuleInfo>* list) {
  List(kMissingRules, Stage::kPoll, list);
  List(kPlatformRules, Stage::kPoll, list);
  List(kRules, Stage::kPoll, list);
  List(kStepRules, Stage::kPoll, list);
  List(kEndRules, Stage::kPoll, list);
  List(kInnerRules, Stage::kPoll, list);
}

}  // namespace nereid::config::rules
