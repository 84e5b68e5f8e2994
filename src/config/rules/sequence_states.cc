// SPDX-License-Identifier: Apache-2.0
// Rules for the initial values of implicit states that need only the configuration.
#include <algorithm>
#include <set>

#include "config/rules/model_paths.h"
#include "config/rules/sections.h"

namespace nereid::config::rules {
namespace {

using inference::ModelSequenceBatching;
using State = ModelSequenceBatching::State;
using InitialState = ModelSequenceBatching::InitialState;

struct StateSubject {
  const Proto& config;
  const State& state;
  int index;
  bool name_seen;
  bool output_seen;

  std::string Path(std::string_view field) const {
    return At("sequence_batching.state", index) + "." + std::string(field);
  }
};

void StateOnce(const StateSubject& subject, Findings& findings) {
  if (!subject.name_seen) return;
  findings.Add(subject.Path("input_name"),
               "State input name '" + subject.state.input_name() + "' specified more than once.");
}

void OutputOnce(const StateSubject& subject, Findings& findings) {
  if (!subject.output_seen) return;
  findings.Add(subject.Path("output_name"),
               "State output name '" + subject.state.output_name() + "' specified more than once.");
}

void AtMostOneInitialState(const StateSubject& subject, Findings& findings) {
  const int count = subject.state.initial_state_size();
  if (count <= 1) return;
  findings.Add(subject.Path("initial_state"), "initial_state field for state input '" +
                                                  subject.state.input_name() +
                                                  "' must contain exactly one or zero element. "
                                                  "Found '" +
                                                  std::to_string(count) + "' elements.");
}

constexpr Rule<StateSubject> kStateRules[] = {
    {{"state.input_once", "sequence_batching.state.input_name",
      "Two states do not go into the same input.", "a name that no other state has",
      "Give every state an input of its own."},
     StateOnce},
    {{"state.output_once", "sequence_batching.state.output_name",
      "Two states do not come out of the same output.", "a name that no other state has",
      "Give every state an output of its own."},
     OutputOnce},
    {{"state.one_initial", "sequence_batching.state.initial_state",
      "A state has at most one initial value.", "none or one initial_state",
      "Remove all but one initial_state."},
     AtMostOneInitialState},
};

struct InitialSubject {
  const StateSubject& parent;
  const State& state;
  const InitialState& initial;
  int index;

  std::string Path(std::string_view field) const {
    return parent.Path(At("initial_state", index) + "." + std::string(field));
  }
};

void SameType(const InitialSubject& subject, Findings& findings) {
  if (subject.initial.data_type() == subject.state.data_type()) return;
  findings.Add(subject.Path("data_type"),
               "The data type used for 'initial_state' field of state '" +
                   subject.state.input_name() + "' does not match the state data type.",
               inference::DataType_Name(subject.state.data_type()));
}

void Named(const InitialSubject& subject, Findings& findings) {
  if (!subject.initial.name().empty()) return;
  findings.Add(subject.Path("name"),
               "Field 'name' must be set when using initial_state for state input '" +
                   subject.state.input_name() + "'.");
}

bool RanksDiffer(const InitialSubject& subject) {
  return subject.initial.dims_size() != subject.state.dims_size();
}

void SameRank(const InitialSubject& subject, Findings& findings) {
  if (!RanksDiffer(subject)) return;
  findings.Add(
      subject.Path("dims"),
      "Number of dimensions in 'initial_state' doesn't match the size of 'state' dimensions for "
      "state input '" +
          subject.state.input_name() + "'. " + std::to_string(subject.initial.dims_size()) +
          " != " + std::to_string(subject.state.dims_size()),
      std::to_string(subject.state.dims_size()) + " dims");
}

bool IsVariable(const InitialSubject& subject) {
  const auto& dims = subject.initial.dims();
  return std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; });
}

void FixedDims(const InitialSubject& subject, Findings& findings) {
  if (!IsVariable(subject)) return;
  findings.Add(subject.Path("dims"), "'initial_state' field for state input name '" +
                                         subject.state.input_name() +
                                         "' contains variable dimensions.");
}

void DimsFit(const InitialSubject& subject, Findings& findings) {
  if (RanksDiffer(subject) || IsVariable(subject)) return;
  for (int i = 0; i < subject.initial.dims_size(); ++i) {
    const int64_t expected = subject.state.dims(i);
    if (expected == -1 || expected == subject.initial.dims(i)) continue;
    findings.Add(subject.Path(At("dims", i)),
                 "'initial_state' dim for input name '" + subject.state.input_name() +
                     "' doesn't match 'state' dim description. " +
                     std::to_string(subject.initial.dims(i)) + " != " + std::to_string(expected),
                 std::to_string(expected));
  }
}

/// A state begins with 1 in each variable dimension. Data for another shape would be truncated, or
/// be arranged differently than its author meant.
void FileFits(const InitialSubject& subject, Findings& findings) {
  if (!subject.initial.has_data_file() || RanksDiffer(subject) || IsVariable(subject)) return;
  for (int i = 0; i < subject.initial.dims_size(); ++i) {
    if (subject.state.dims(i) != -1 || subject.initial.dims(i) == 1) continue;
    findings.Add(subject.Path(At("dims", i)),
                 "the initial state file '" + subject.initial.data_file() + "' of state input '" +
                     subject.state.input_name() + "' is for a dim of " +
                     std::to_string(subject.initial.dims(i)) +
                     ", but where the dims of a state are variable it begins with 1",
                 "1");
  }
}

void FileInside(const InitialSubject& subject, Findings& findings) {
  if (!LeavesItsDirectory(subject.initial.data_file())) return;
  findings.Add(subject.Path("data_file"), "initial state file '" + subject.initial.data_file() +
                                              "' of state input '" + subject.state.input_name() +
                                              "' is outside the directory initial_state of model " +
                                              subject.parent.config.name());
}

void HasData(const InitialSubject& subject, Findings& findings) {
  if (subject.initial.state_data_case() != InitialState::STATE_DATA_NOT_SET) return;
  findings.Add(subject.Path("state_data"), "initial_state setting expects state'" +
                                               subject.state.input_name() +
                                               "' to have state_data set");
}

constexpr Rule<InitialSubject> kInitialRules[] = {
    {{"state.type", "sequence_batching.state.initial_state.data_type",
      "The initial value of a state has the state's type.", "the data_type of the state",
      "Set data_type to the state's."},
     SameType},
    {{"state.name", "sequence_batching.state.initial_state.name",
      "The initial value of a state has a name.", "a name that is not empty",
      "Give the initial_state a name."},
     Named},
    {{"state.rank", "sequence_batching.state.initial_state.dims",
      "The initial value of a state has as many dims as the state.", "the rank of the state",
      "List as many dims as the state has."},
     SameRank},
    {{"state.fixed_dims", "sequence_batching.state.initial_state.dims",
      "The dims of an initial value are fixed.", "dims of 0 or more",
      "Write the size that the state begins with in place of -1."},
     FixedDims},
    {{"state.dims", "sequence_batching.state.initial_state.dims",
      "The dims of an initial value are the state's where those are fixed.", "the dim of the state",
      "Copy the fixed dims of the state."},
     DimsFit},
    {{"state.file_dims", "sequence_batching.state.initial_state.dims",
      "The data of an initial value are for a state whose variable dims are 1.",
      "1 where the state has -1",
      "Write the size into the dims of the state, or begin with a dim of 1."},
     FileFits},
    {{"state.data", "sequence_batching.state.initial_state.state_data",
      "An initial value is zero or comes from a file.", "zero_data or data_file",
      "Add zero_data: true, or data_file with a file in the directory initial_state."},
     HasData},
    {{"state.file_path", "sequence_batching.state.initial_state.data_file",
      "The data of an initial value are in the directory initial_state of the model.",
      "a path below the directory initial_state",
      "Put the file there, and write its path from there."},
     FileInside},
};

}  // namespace

void CheckSequenceStates(const Proto& config, Findings& findings) {
  std::set<std::string> names;
  std::set<std::string> outputs;
  int index = 0;
  for (const State& state : config.sequence_batching().state()) {
    const bool name_seen = !names.insert(state.input_name()).second;
    const bool output_seen = !outputs.insert(state.output_name()).second;
    const StateSubject subject{config, state, index++, name_seen, output_seen};
    Apply(kStateRules, subject, findings);
    int position = 0;
    for (const InitialState& initial : state.initial_state()) {
      Apply(kInitialRules, InitialSubject{subject, state, initial, position++}, findings);
    }
  }
}

void ListSequenceStates(std::vector<RuleInfo>* list) {
  List(kStateRules, Stage::kLoad, list);
  List(kInitialRules, Stage::kLoad, list);
}

}  // namespace nereid::config::rules
