// SPDX-License-Identifier: Apache-2.0
#include "config/rules/ensemble_members.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "config/rules/rule.h"
#include "tensor/shape.h"

namespace nereid::config {
namespace {

using rules::At;
using rules::Findings;
using Step = inference::ModelEnsembling::Step;
using Dims = std::vector<int64_t>;

struct Subject {
  const ModelConfig& ensemble;
  const FindMember& find;

  const auto& steps() const { return ensemble.proto().ensemble_scheduling().step(); }
  const Step& steps(int index) const { return steps()[index]; }
};

std::string StepPath(int index) { return At("ensemble_scheduling.step", index); }

// Returns the entries of a map sorted by key, so that the order of messages does not depend on
// hashes.
std::map<std::string, std::string> Sorted(
    const google::protobuf::Map<std::string, std::string>& map) {
  return {map.begin(), map.end()};
}

void MembersExist(const Subject& subject, Findings& findings) {
  for (int i = 0; i < subject.steps().size(); ++i) {
    const std::string& name = subject.steps(i).model_name();
    if (subject.find(name) != nullptr) continue;
    findings.Add(StepPath(i) + ".model_name",
                 "ensemble " + subject.ensemble.name() +
                     " contains models that are not available or ambiguous: " + name);
  }
}

// Calls visit(index, step, member) for every step whose member is known.
template <typename Visit>
void ForEachStep(const Subject& subject, Visit visit) {
  for (int i = 0; i < subject.steps().size(); ++i) {
    const Step& step = subject.steps(i);
    if (const EnsembleMember* member = subject.find(step.model_name())) visit(i, step, *member);
  }
}

void NotItself(const Subject& subject, Findings& findings) {
  const auto circle = FindEnsembleCircle(subject.ensemble.name(), subject.find);
  if (circle.empty()) return;
  std::string members;
  for (const std::string& name : circle) members += name + ", ";
  findings.Add("ensemble_scheduling.step",
               "circular dependency between ensembles: " + circle.front() + " -> ... -> " +
                   circle.back() + " -> " + circle.front(),
               "members other than " + members.substr(0, members.size() - 2));
}

void VersionsExist(const Subject& subject, Findings& findings) {
  ForEachStep(subject, [&](int i, const Step& step, const EnsembleMember& member) {
    const std::string start =
        "ensemble '" + subject.ensemble.name() + "' depends on '" + step.model_name() + "' ";
    const auto& versions = member.versions;
    if (versions.empty()) {
      findings.Add(StepPath(i) + ".model_name", start + "which has no loaded version.");
    } else if (step.model_version() != -1 && std::find(versions.begin(), versions.end(),
                                                       step.model_version()) == versions.end()) {
      findings.Add(StepPath(i) + ".model_version", start + "whose required version " +
                                                       std::to_string(step.model_version()) +
                                                       " is not loaded.");
    }
  });
}

void BatchesFit(const Subject& subject, Findings& findings) {
  const int32_t own = subject.ensemble.max_batch_size();
  ForEachStep(subject, [&](int i, const Step& step, const EnsembleMember& member) {
    const int32_t size = member.config->max_batch_size();
    if (size == 0 || own <= size) return;
    if (member.incomplete && member.config->inputs().empty()) return;
    findings.Add(StepPath(i) + ".model_name",
                 "ensemble " + subject.ensemble.name() + " allows maximum batch size " +
                     std::to_string(own) + ", but it contains model " + step.model_name() +
                     " which only allows maximum batch size to be " + std::to_string(size),
                 "max_batch_size of the ensemble at most " + std::to_string(size));
  });
}

std::string Mapping(const Subject& subject, const std::string& tensor, const char* direction,
                    const std::string& name, const Step& step) {
  return "in ensemble " + subject.ensemble.name() + ", ensemble tensor " + tensor + " is mapp" +
         direction + name + " in model " + step.model_name();
}

std::string NamesOf(const std::vector<TensorSpec>& specs, const char* word) {
  if (specs.empty()) return std::string("the name of an ") + word + " of the model";
  std::string names = specs.size() == 1 ? "" : "one of ";
  for (const TensorSpec& spec : specs) names += (&spec == &specs[0] ? "" : ", ") + spec.name;
  return names;
}

void InputsExist(const Subject& subject, Findings& findings) {
  ForEachStep(subject, [&](int i, const Step& step, const EnsembleMember& member) {
    for (const auto& [input, tensor] : Sorted(step.input_map())) {
      if (member.incomplete || member.config->FindInput(input) != nullptr) continue;
      findings.Add(StepPath(i) + "." + At("input_map", input),
                   Mapping(subject, tensor, "ing to non-existing input ", input, step),
                   NamesOf(member.config->inputs(), "input"));
    }
  });
}

void OutputsExist(const Subject& subject, Findings& findings) {
  ForEachStep(subject, [&](int i, const Step& step, const EnsembleMember& member) {
    for (const auto& [output, tensor] : Sorted(step.output_map())) {
      if (member.incomplete || member.config->FindOutput(output) != nullptr) continue;
      findings.Add(StepPath(i) + "." + At("output_map", output),
                   Mapping(subject, tensor, "ed from non-existing output ", output, step),
                   NamesOf(member.config->outputs(), "output"));
    }
  });
}

void InputsMapped(const Subject& subject, Findings& findings) {
  ForEachStep(subject, [&](int i, const Step& step, const EnsembleMember& member) {
    for (const TensorSpec& input : member.config->inputs()) {
      if (input.optional || step.input_map().contains(input.name)) continue;
      findings.Add(StepPath(i) + ".input_map",
                   "in ensemble " + subject.ensemble.name() + ", input " + input.name +
                       " in model " + step.model_name() + " is not mapped to any ensemble tensors",
                   "an entry for " + input.name);
    }
  });
}

// A tensor of the ensemble, as described by the model that mentions it first.
struct Tensor {
  std::string model;
  bool batching = false;
  const TensorSpec* spec = nullptr;
  // Whether the description is the ensemble's own. Its steps see the reshaped dims, as a backend
  // would.
  bool own = false;

  const Dims& PlainDims() const { return own && spec->reshape ? *spec->reshape : spec->dims; }
  Dims FullDims() const {
    Dims dims = PlainDims();
    if (batching) dims.insert(dims.begin(), tensor::kVariableDim);
    return dims;
  }
};

// Returns whether two shapes are compatible: kVariableDim matches any size.
bool Compatible(std::span<const int64_t> a, std::span<const int64_t> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && a[i] != tensor::kVariableDim && b[i] != tensor::kVariableDim) return false;
  }
  return true;
}

// Calls visit(path, tensor name, first, other) for each mention of a tensor after the first one.
template <typename Visit>
void ForEachMeeting(const Subject& subject, Visit visit) {
  const ModelConfig& ensemble = subject.ensemble;
  std::map<std::string, Tensor> tensors;
  for (const auto* specs : {&ensemble.inputs(), &ensemble.outputs()}) {
    for (const TensorSpec& spec : *specs) {
      tensors.try_emplace(spec.name,
                          Tensor{ensemble.name(), ensemble.max_batch_size() > 0, &spec, true});
    }
  }
  const auto meet = [&](const std::string& path, const std::string& name, const ModelConfig& model,
                        const TensorSpec* spec) {
    if (spec == nullptr) return;
    const Tensor other{model.name(), model.max_batch_size() > 0, spec};
    const auto [first, inserted] = tensors.try_emplace(name, other);
    if (!inserted) visit(path, name, first->second, other);
  };
  ForEachStep(subject, [&](int i, const Step& step, const EnsembleMember& member) {
    for (const auto& [input, name] : Sorted(step.input_map())) {
      meet(StepPath(i) + "." + At("input_map", input), name, *member.config,
           member.config->FindInput(input));
    }
    for (const auto& [output, name] : Sorted(step.output_map())) {
      meet(StepPath(i) + "." + At("output_map", output), name, *member.config,
           member.config->FindOutput(output));
    }
  });
}

std::string Inconsistent(const Subject& subject, const std::string& name, const char* what,
                         const std::string& a, const Tensor& first, const std::string& b,
                         const Tensor& other) {
  return "in ensemble " + subject.ensemble.name() + ", ensemble tensor " + name +
         ": inconsistent " + what + ": " + a + " is inferred from model " + first.model +
         " while " + b + " is inferred from model " + other.model;
}

bool TypesKnown(const Tensor& first, const Tensor& other) {
  return first.spec->data_type != tensor::DataType::kInvalid &&
         other.spec->data_type != tensor::DataType::kInvalid;
}

void TypesFit(const Subject& subject, Findings& findings) {
  ForEachMeeting(subject, [&](const std::string& path, const std::string& name, const Tensor& first,
                              const Tensor& other) {
    if (!TypesKnown(first, other) || first.spec->data_type == other.spec->data_type) return;
    const std::string a(tensor::DataTypeConfigName(first.spec->data_type));
    const std::string b(tensor::DataTypeConfigName(other.spec->data_type));
    findings.Add(path, Inconsistent(subject, name, "data type", a, first, b, other), a);
  });
}

void ShapesFit(const Subject& subject, Findings& findings) {
  ForEachMeeting(subject, [&](const std::string& path, const std::string& name, const Tensor& first,
                              const Tensor& other) {
    if (first.spec->dims.empty() || other.spec->dims.empty()) return;
    const Dims a = first.FullDims();
    const Dims b = other.FullDims();
    if (Compatible(first.PlainDims(), other.PlainDims()) || Compatible(a, b)) return;
    findings.Add(path,
                 Inconsistent(subject, name, "shape", tensor::ShapeText(a), first,
                              tensor::ShapeText(b), other),
                 tensor::ShapeText(a));
  });
}

std::string Mixed(const Subject& subject, const std::string& model) {
  return "in ensemble " + subject.ensemble.name() + ", step of model '" + model +
         "' receives inputs originated from different decoupled models";
}

// Checks that the inputs of each step depend on at most one decoupled step. Each tensor has one
// origin: the last decoupled step before it. Steps are visited in the order in which their inputs
// become known, so this repeats until no step is left. The ensemble's outputs are checked like the
// inputs of one more step.
void OneDecoupledOrigin(const Subject& subject, Findings& findings) {
  constexpr int kNone = -1;
  std::map<std::string, int> origins;
  for (const TensorSpec& input : subject.ensemble.inputs()) origins[input.name] = kNone;
  std::set<int> done;
  for (bool progress = true; progress;) {
    progress = false;
    ForEachStep(subject, [&](int i, const Step& step, const EnsembleMember& member) {
      std::set<int> sources;
      for (const auto& [input, name] : Sorted(step.input_map())) {
        const auto origin = origins.find(name);
        if (origin == origins.end()) return;
        if (origin->second != kNone) sources.insert(origin->second);
      }
      if (!done.insert(i).second) return;
      progress = true;
      if (sources.size() > 1) {
        findings.Add(StepPath(i) + ".input_map", Mixed(subject, step.model_name()));
      }
      const int own = member.config->decoupled() ? i : sources.empty() ? kNone : *sources.begin();
      for (const auto& [output, name] : step.output_map()) origins[name] = own;
    });
  }
  std::set<int> answers;
  for (const TensorSpec& output : subject.ensemble.outputs()) {
    const auto origin = origins.find(output.name);
    if (origin != origins.end() && origin->second != kNone) answers.insert(origin->second);
  }
  if (answers.size() > 1) findings.Add("output", Mixed(subject, subject.ensemble.name()));
}

// A member that is an ensemble is decoupled if one of its own members is.
void CacheNeedsOneResponse(const Subject& subject, Findings& findings) {
  if (!subject.ensemble.response_cache_enabled()) return;
  ForEachStep(subject, [&](int /*i*/, const Step& step, const EnsembleMember& member) {
    if (!member.config->decoupled()) return;
    findings.Add("response_cache.enable",
                 "Response Cache does not currently support model " + subject.ensemble.name() +
                     " with 'decoupled' transaction policy. Please disable the response cache. "
                     "(Its member '" +
                     step.model_name() + "' is decoupled.)");
  });
}

constexpr rules::Rule<Subject> kMemberRules[] = {
    {{"members.exist", "ensemble_scheduling.step.model_name",
      "The models that an ensemble calls are in the repositories, each once.",
      "the name of one model of the repositories", "Correct the name, or add the model."},
     MembersExist},
    {{"members.circle", "ensemble_scheduling.step", "An ensemble does not call itself.",
      "members that do not lead back to the ensemble", "Remove one of these steps."},
     NotItself},
    {{"members.version", "ensemble_scheduling.step.model_version",
      "The version of a model that an ensemble calls is served.",
      "-1, or a version that the model's version policy serves",
      "Set model_version to -1, or change the model's version_policy or directories."},
     VersionsExist},
    {{"members.batch_size", "ensemble_scheduling.step.model_name",
      "A model that batches takes batches as large as the ensemble does.",
      "a max_batch_size not below the ensemble's",
      "Lower max_batch_size of the ensemble, or raise that of the model."},
     BatchesFit},
    {{"members.input", "ensemble_scheduling.step.input_map",
      "The keys of an input_map are inputs of the model.", "the name of an input of the model",
      "Write the name of an input of the model as the key."},
     InputsExist},
    {{"members.output", "ensemble_scheduling.step.output_map",
      "The keys of an output_map are outputs of the model.", "the name of an output of the model",
      "Write the name of an output of the model as the key."},
     OutputsExist},
    {{"members.input_mapped", "ensemble_scheduling.step.input_map",
      "Every input of a model that is not optional is mapped.", "an entry for every input",
      "Add the entry to input_map."},
     InputsMapped},
    {{"members.data_type", "ensemble_scheduling.step",
      "All that an ensemble's tensor is mapped to has the same data type.", "the same data type",
      "Map tensors of the same type, or put a model that converts between them."},
     TypesFit},
    {{"members.shape", "ensemble_scheduling.step",
      "All that an ensemble's tensor is mapped to has the same shape, -1 fitting everything.",
      "the same shape", "Map tensors of the same shape, or give one of them a reshape."},
     ShapesFit},
    {{"members.decoupled", "ensemble_scheduling.step.input_map, output",
      "Neither the inputs of a step nor the outputs of the ensemble come from two different "
      "decoupled models.",
      "tensors from one decoupled model at most", "Take them from the same decoupled model."},
     OneDecoupledOrigin},
    {{"members.decoupled_cache", "response_cache.enable",
      "An ensemble with a decoupled member has no response cache: a request has any number of "
      "responses.",
      "response_cache off", "Remove response_cache, or enable it for the other members instead."},
     CacheNeedsOneResponse},
};

bool ReachesStart(const std::string& start, const std::string& name, const FindMember& find,
                  std::set<std::string>* seen, std::vector<std::string>* way) {
  const EnsembleMember* member = find(name);
  if (member == nullptr || !member->config->proto().has_ensemble_scheduling()) return false;
  way->push_back(name);
  for (const Step& step : member->config->proto().ensemble_scheduling().step()) {
    const std::string& next = step.model_name();
    if (next == start) return true;
    if (seen->insert(next).second && ReachesStart(start, next, find, seen, way)) return true;
  }
  way->pop_back();
  return false;
}

}  // namespace

std::vector<Problem> FindMemberProblems(const ModelConfig& ensemble, const FindMember& find) {
  Findings findings(Findings::Wanted::kAll);
  rules::Apply(kMemberRules, Subject{ensemble, find}, findings);
  return findings.Take();
}

std::vector<std::string> FindEnsembleCircle(const std::string& start, const FindMember& find) {
  std::vector<std::string> way;
  std::set<std::string> seen;
  ReachesStart(start, start, find, &seen, &way);
  return way;
}

std::vector<RuleInfo> MemberRules() {
  std::vector<RuleInfo> list;
  rules::List(kMemberRules, Stage::kLoad, &list);
  return list;
}

}  // namespace nereid::config
