// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "config/rules/advice.h"

namespace nereid::config::rules {
namespace {

template <typename Tensors>
void NamesOnce(const AdviceSubject& subject, std::string_view list, const Tensors& tensors,
               Findings& findings) {
  std::set<std::string> seen;
  for (int i = 0; i < tensors.size(); ++i) {
    if (seen.insert(tensors[i].name()).second || tensors[i].name().empty()) continue;
    findings.Add(At(list, i) + ".name", std::string(list) + " '" + tensors[i].name() + "' of " +
                                            subject.config.name() +
                                            " is listed more than once: the first one holds");
  }
}

void TensorsOnce(const AdviceSubject& subject, Findings& findings) {
  NamesOnce(subject, "input", subject.config.input(), findings);
  NamesOnce(subject, "output", subject.config.output(), findings);
}

void ControlsApart(const AdviceSubject& subject, Findings& findings) {
  const auto& controls = subject.config.sequence_batching().control_input();
  for (int i = 0; i < controls.size(); ++i) {
    for (const auto& input : subject.config.input()) {
      if (input.name() != controls[i].name()) continue;
      findings.Add(At("sequence_batching.control_input", i) + ".name",
                   "the control '" + input.name() + "' of " + subject.config.name() +
                       " is also an input: what clients send there is replaced");
    }
  }
}

void StatesApart(const AdviceSubject& subject, Findings& findings) {
  const auto& states = subject.config.sequence_batching().state();
  for (int i = 0; i < states.size(); ++i) {
    for (const auto& input : subject.config.input()) {
      if (input.name() != states[i].input_name()) continue;
      findings.Add(At("sequence_batching.state", i) + ".input_name",
                   "the state '" + input.name() + "' of " + subject.config.name() +
                       " is also an input: what clients send there is replaced");
    }
  }
}

void ZerosFit(const AdviceSubject& subject, Findings& findings) {
  const auto& states = subject.config.sequence_batching().state();
  for (int i = 0; i < states.size(); ++i) {
    if (states[i].initial_state_size() != 1 || !states[i].initial_state(0).has_zero_data()) {
      continue;
    }
    const auto& initial = states[i].initial_state(0);
    if (states[i].dims_size() != initial.dims_size()) continue;
    for (int k = 0; k < initial.dims_size(); ++k) {
      if (states[i].dims(k) != -1 || initial.dims(k) < 0 || initial.dims(k) == 1) continue;
      findings.Add(At(At("sequence_batching.state", i) + ".initial_state[0].dims", k),
                   "the zeros of state '" + states[i].input_name() + "' of " +
                       subject.config.name() + " are for a dim of " +
                       std::to_string(initial.dims(k)) +
                       ", but where the dims of a state are variable it begins with 1");
    }
  }
}

void BatchTargetsOnce(const AdviceSubject& subject, Findings& findings) {
  std::set<std::string> names;
  for (const auto& input : subject.config.input()) names.insert(input.name());
  for (int i = 0; i < subject.config.batch_input_size(); ++i) {
    const auto& entry = subject.config.batch_input(i);
    const std::string path = At("batch_input", i) + ".target_name";
    if (entry.target_name().empty()) {
      findings.Add(path, "batch input " + std::to_string(i) + " of " + subject.config.name() +
                             " goes nowhere: it has no target_name");
    }
    for (const std::string& name : entry.target_name()) {
      if (names.insert(name).second) continue;
      findings.Add(path, "batch input '" + name + "' of " + subject.config.name() +
                             " has the name of another input");
    }
  }
}

void WarmupRuns(const AdviceSubject& subject, Findings& findings) {
  const int64_t largest = std::max(subject.config.max_batch_size(), 1);
  for (int i = 0; i < subject.config.model_warmup_size(); ++i) {
    const auto& sample = subject.config.model_warmup(i);
    const std::string path = At("model_warmup", i) + ".batch_size";
    const std::string of = "warmup sample '" + sample.name() + "' of " + subject.config.name();
    if (sample.batch_size() == 0) {
      findings.Add(path, of + " is skipped: its batch_size is 0");
    } else if (sample.batch_size() > largest) {
      findings.Add(path, of + " has a batch_size of " + std::to_string(sample.batch_size()) +
                             ", more than requests to the model can have");
    }
  }
}

constexpr Rule<AdviceSubject> kRules[] = {
    {{"advice.tensor_names", "input.name", "The names of inputs differ, and those of outputs.",
      "a name that no other has", "Rename or remove the repeated one."},
     TensorsOnce},
    {{"advice.control_names", "sequence_batching.control_input.name",
      "Controls are not inputs that clients send.", "a name that no input has",
      "Remove the tensor from input: the server provides it."},
     ControlsApart},
    {{"advice.state_names", "sequence_batching.state.input_name",
      "States are not inputs that clients send.", "a name that no input has",
      "Remove the tensor from input: the server provides it."},
     StatesApart},
    {{"advice.state_dims", "sequence_batching.state.initial_state.dims",
      "A state of zeros begins with 1 for each variable dim.", "1 where the state has -1",
      "Write the size into the dims of the state, if it must begin with it."},
     ZerosFit},
    {{"advice.batch_targets", "batch_input.target_name", "A batch input is a tensor of its own.",
      "a name that no other input has",
      "Name the model's tensor that takes the batch input, and do not list it in input."},
     BatchTargetsOnce},
    {{"advice.warmup_batch", "model_warmup.batch_size",
      "A warmup sample has a batch that the model takes.", "1 to max_batch_size",
      "Set batch_size to a batch that requests have."},
     WarmupRuns},
};

}  // namespace

void AdviseOnTensors(const AdviceSubject& subject, Findings& findings) {
  Apply(kRules, subject, findings, Severity::kWarning);
}

void ListTensorAdvice(std::vector<RuleInfo>* list) {
  List(kRules, Stage::kLoad, Severity::kWarning, list);
}

}  // namespace nereid::config::rules
