// SPDX-License-Identifier: Apache-2.0
// The initial values of implicit states, as far as the configuration alone tells.
#include <set>

#include "config/rules/rule.h"

namespace nereid::config::rules {
namespace {

using inference::ModelSequenceBatching;
using State = ModelSequenceBatching::State;
using InitialState = ModelSequenceBatching::InitialState;

struct StateSubject {
  const Proto& config;
  const State& state;
  bool name_seen;
};

Violation StateOnce(const StateSubject& subject) {
  if (!subject.name_seen) return std::nullopt;
  return "sequence batching state input '" + subject.state.input_name() +
         "' is specified more than once for " + subject.config.name();
}

Violation AtMostOneInitialState(const StateSubject& subject) {
  const int count = subject.state.initial_state_size();
  if (count <= 1) return std::nullopt;
  return "initial_state field for state input '" + subject.state.input_name() +
         "' must contain exactly one or zero element. Found " + std::to_string(count) +
         " elements.";
}

constexpr Rule<StateSubject> kStateRules[] = {
    {"state.input_once", "sequence_batching.state.input_name", StateOnce},
    {"state.one_initial", "sequence_batching.state.initial_state", AtMostOneInitialState},
};

struct InitialSubject {
  const State& state;
  const InitialState& initial;
};

Violation SameType(const InitialSubject& subject) {
  if (subject.initial.data_type() == subject.state.data_type()) return std::nullopt;
  return "The data type used for 'initial_state' field of state '" + subject.state.input_name() +
         "' does not match the state data type.";
}

Violation Named(const InitialSubject& subject) {
  if (!subject.initial.name().empty()) return std::nullopt;
  return "Field 'name' must be set when using initial_state for state input '" +
         subject.state.input_name() + "'.";
}

Violation SameRank(const InitialSubject& subject) {
  if (subject.initial.dims_size() == subject.state.dims_size()) return std::nullopt;
  return "Number of dimensions in 'initial_state' doesn't match the size of 'state' dimensions for "
         "state input '" +
         subject.state.input_name() + "'. " + std::to_string(subject.initial.dims_size()) +
         " != " + std::to_string(subject.state.dims_size());
}

Violation FixedDims(const InitialSubject& subject) {
  for (const int64_t dim : subject.initial.dims()) {
    if (dim < 0) {
      return "'initial_state' field for state input name '" + subject.state.input_name() +
             "' contains variable dimensions.";
    }
  }
  return std::nullopt;
}

Violation DimsFit(const InitialSubject& subject) {
  for (int i = 0; i < subject.initial.dims_size(); ++i) {
    const int64_t expected = subject.state.dims(i);
    if (expected == -1 || expected == subject.initial.dims(i)) continue;
    return "'initial_state' dim for input name '" + subject.state.input_name() +
           "' doesn't match 'state' dim description. " + std::to_string(subject.initial.dims(i)) +
           " != " + std::to_string(expected);
  }
  return std::nullopt;
}

Violation HasData(const InitialSubject& subject) {
  if (subject.initial.state_data_case() != InitialState::STATE_DATA_NOT_SET) return std::nullopt;
  return "initial_state setting expects state'" + subject.state.input_name() +
         "' to have state_data set";
}

constexpr Rule<InitialSubject> kInitialRules[] = {
    {"state.type", "sequence_batching.state.initial_state.data_type", SameType},
    {"state.name", "sequence_batching.state.initial_state.name", Named},
    {"state.rank", "sequence_batching.state.initial_state.dims", SameRank},
    {"state.fixed_dims", "sequence_batching.state.initial_state.dims", FixedDims},
    {"state.dims", "sequence_batching.state.initial_state.dims", DimsFit},
    {"state.data", "sequence_batching.state.initial_state", HasData},
};

}  // namespace

Violation CheckSequenceStates(const Proto& config) {
  std::set<std::string> names;
  for (const State& state : config.sequence_batching().state()) {
    const bool name_seen = !names.insert(state.input_name()).second;
    const StateSubject subject{config, state, name_seen};
    if (auto violation = FirstViolation(kStateRules, subject)) return violation;
    for (const InitialState& initial : state.initial_state()) {
      if (auto violation = FirstViolation(kInitialRules, InitialSubject{state, initial})) {
        return violation;
      }
    }
  }
  return std::nullopt;
}

void ListSequenceStates(std::vector<RuleInfo>* list) {
  List(kStateRules, list);
  List(kInitialRules, list);
}

}  // namespace nereid::config::rules
