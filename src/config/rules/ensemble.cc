// SPDX-License-Identifier: Apache-2.0
// Ensembles, as far as their own configuration tells: their members are looked at when all are
// loaded.
#include <deque>
#include <map>
#include <set>

#include "config/known_backends.h"
#include "config/rules/rule.h"

namespace nereid::config::rules {
namespace {

using Step = inference::ModelEnsembling::Step;

Violation PlatformIsEnsemble(const Proto& config) {
  if (config.platform() == kEnsemblePlatform) return std::nullopt;
  return "ensemble scheduling cannot be set for model '" + config.name() +
         "' whose platform is not ensemble";
}

Violation NoInstanceGroup(const Proto& config) {
  if (config.instance_group().empty()) return std::nullopt;
  return "instance group should not be specified for ensemble '" + config.name() + "'";
}

Violation NoOptimization(const Proto& config) {
  if (!config.has_optimization()) return std::nullopt;
  return "optimization should not be specified for ensemble '" + config.name() + "'";
}

Violation NoWarmup(const Proto& config) {
  if (config.model_warmup().empty()) return std::nullopt;
  return "model_warmup can not be specified for ensemble '" + config.name() + "'";
}

Violation HasStep(const Proto& config) {
  if (!config.ensemble_scheduling().step().empty()) return std::nullopt;
  return "must specify 'step' for ensemble '" + config.name() + "'";
}

constexpr Rule<Proto> kRules[] = {
    {"ensemble.platform", "platform", PlatformIsEnsemble},
    {"ensemble.instance_group", "instance_group", NoInstanceGroup},
    {"ensemble.optimization", "optimization", NoOptimization},
    {"ensemble.warmup", "model_warmup", NoWarmup},
    {"ensemble.step", "ensemble_scheduling.step", HasStep},
};

// For models whose platform is ensemble, but which have no ensemble scheduling.
Violation HasScheduling(const Proto& config) {
  if (config.platform() != kEnsemblePlatform) return std::nullopt;
  return "ensemble scheduling must be set for ensemble " + config.name() +
         " whose platform is ensemble";
}

constexpr Rule<Proto> kMissingRules[] = {
    {"ensemble.scheduling", "ensemble_scheduling", HasScheduling},
};

struct StepSubject {
  const Proto& config;
  const Step& step;
  int index;
  // The tensors that the steps before this one write.
  const std::set<std::string>& written;
};

std::string InStep(const StepSubject& subject, const char* field) {
  return "must specify '" + std::string(field) + "' in step " + std::to_string(subject.index) +
         " of ensemble '" + subject.config.name() + "'";
}

Violation StepHasModel(const StepSubject& subject) {
  if (!subject.step.model_name().empty()) return std::nullopt;
  return InStep(subject, "model_name");
}

Violation StepHasInputs(const StepSubject& subject) {
  if (!subject.step.input_map().empty()) return std::nullopt;
  return InStep(subject, "input_map");
}

Violation StepHasOutputs(const StepSubject& subject) {
  if (!subject.step.output_map().empty()) return std::nullopt;
  return InStep(subject, "output_map");
}

Violation WrittenOnce(const StepSubject& subject) {
  std::set<std::string> written = subject.written;
  for (const auto& [output, tensor] : subject.step.output_map()) {
    if (!written.insert(tensor).second) {
      return "ensemble tensor '" + tensor +
             "' can appear in an output map only once for ensemble '" + subject.config.name() +
             "' step " + std::to_string(subject.index);
    }
  }
  return std::nullopt;
}

constexpr Rule<StepSubject> kStepRules[] = {
    {"ensemble.step_model", "ensemble_scheduling.step.model_name", StepHasModel},
    {"ensemble.step_inputs", "ensemble_scheduling.step.input_map", StepHasInputs},
    {"ensemble.step_outputs", "ensemble_scheduling.step.output_map", StepHasOutputs},
    {"ensemble.written_once", "ensemble_scheduling.step.output_map", WrittenOnce},
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
  // From the ensemble's inputs on: a tensor is ready when all its sources are.
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

// The unbalanced quotes of these two are the texts that clients know.
Violation InputsUsed(const GraphSubject& subject) {
  for (const auto& input : subject.config.input()) {
    if (subject.graph.contains(input.name())) continue;
    return "ensemble input '" + input.name() + "' for ensemble " + subject.config.name() +
           "' is not used";
  }
  return std::nullopt;
}

Violation OutputsUsed(const GraphSubject& subject) {
  for (const auto& output : subject.config.output()) {
    if (subject.graph.contains(output.name())) continue;
    return "ensemble output '" + output.name() + "' for ensemble " + subject.config.name() +
           "' is not used";
  }
  return std::nullopt;
}

// Goes up from a tensor that is not ready to one that no step writes (or, in a cycle, round once).
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

Violation OutputsWritten(const GraphSubject& subject) {
  for (const auto& output : subject.config.output()) {
    const auto it = subject.graph.find(output.name());
    if (it == subject.graph.end() || it->second.ready) continue;
    std::string text = "output '" + output.name() + "' for ensemble '" + subject.config.name() +
                       "' is not written";
    const std::string unconnected = FirstUnconnected(subject.graph, output.name());
    if (unconnected != output.name()) {
      text += ": at least one of its depending tensors, '" + unconnected + "', is not connected";
    }
    return text;
  }
  return std::nullopt;
}

Violation TensorsUsed(const GraphSubject& subject) {
  std::set<std::string> outputs;
  for (const auto& output : subject.config.output()) outputs.insert(output.name());
  for (const auto& [name, node] : subject.graph) {
    if (node.ready && (!node.consumers.empty() || outputs.contains(name))) continue;
    return "ensemble tensor '" + name + "' is unused in ensemble '" + subject.config.name() + "'";
  }
  return std::nullopt;
}

constexpr Rule<GraphSubject> kGraphRules[] = {
    {"ensemble.inputs_used", "input", InputsUsed},
    {"ensemble.outputs_used", "output", OutputsUsed},
    {"ensemble.outputs_written", "output", OutputsWritten},
    {"ensemble.tensors_used", "ensemble_scheduling.step", TensorsUsed},
};

}  // namespace

Violation CheckEnsemble(const Proto& config) {
  if (!config.has_ensemble_scheduling()) return FirstViolation(kMissingRules, config);
  if (auto violation = FirstViolation(kRules, config)) return violation;
  std::set<std::string> written;
  int index = 0;
  for (const Step& step : config.ensemble_scheduling().step()) {
    if (auto violation = FirstViolation(kStepRules, StepSubject{config, step, index, written})) {
      return violation;
    }
    for (const auto& [output, tensor] : step.output_map()) written.insert(tensor);
    ++index;
  }
  const Graph graph = BuildGraph(config);
  return FirstViolation(kGraphRules, GraphSubject{config, graph});
}

void ListEnsemble(std::vector<RuleInfo>* list) {
  List(kMissingRules, list);
  List(kRules, list);
  List(kStepRules, list);
  List(kGraphRules, list);
}

}  // namespace nereid::config::rules
