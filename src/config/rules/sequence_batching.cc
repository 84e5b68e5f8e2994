// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "config/rules/rule.h"

namespace nereid::config::rules {
namespace {

using inference::ModelSequenceBatching;
using Control = ModelSequenceBatching::Control;

Violation NoResponseCache(const Proto& config) {
  if (!config.response_cache().enable()) return std::nullopt;
  return "Response Cache does not currently support model " + config.name() +
         " with sequence batching scheduler. Please disable the response cache.";
}

constexpr Rule<Proto> kRules[] = {
    {"sequence.response_cache", "response_cache", NoResponseCache},
};

// A tensor that carries controls.
struct TensorSubject {
  const Proto& config;
  const ModelSequenceBatching::ControlInput& input;
  bool name_seen;
};

Violation TensorNamed(const TensorSubject& subject) {
  if (!subject.input.name().empty()) return std::nullopt;
  return "sequence batching control tensor must have a name for " + subject.config.name();
}

Violation TensorOnce(const TensorSubject& subject) {
  if (!subject.name_seen) return std::nullopt;
  return "sequence batching control tensor '" + subject.input.name() +
         "' is specified for multiple control kinds for " + subject.config.name();
}

constexpr Rule<TensorSubject> kTensorRules[] = {
    {"sequence.control_name", "sequence_batching.control_input.name", TensorNamed},
    {"sequence.control_tensor_once", "sequence_batching.control_input.name", TensorOnce},
};

struct ControlSubject {
  const Proto& config;
  const Control& control;
  bool kind_seen;
};

std::string ForKind(const ControlSubject& subject) {
  return " for " + Control::Kind_Name(subject.control.kind()) + " for " + subject.config.name();
}

int ValueLists(const Control& control) {
  return (control.int32_false_true().empty() ? 0 : 1) +
         (control.fp32_false_true().empty() ? 0 : 1) + (control.bool_false_true().empty() ? 0 : 1);
}

Violation KindOnce(const ControlSubject& subject) {
  if (!subject.kind_seen) return std::nullopt;
  return "sequence batching specifies multiple " + Control::Kind_Name(subject.control.kind()) +
         " tensors for " + subject.config.name();
}

constexpr Rule<ControlSubject> kKindRules[] = {
    {"sequence.control_kind_once", "sequence_batching.control_input.control.kind", KindOnce},
};

Violation ValuesGiven(const ControlSubject& subject) {
  if (ValueLists(subject.control) > 0) return std::nullopt;
  return "sequence batching must specify either 'int32_false_true', 'fp32_false_true' or "
         "'bool_false_true'" +
         ForKind(subject);
}

Violation ValuesOfOneType(const ControlSubject& subject) {
  if (ValueLists(subject.control) < 2) return std::nullopt;
  return "sequence batching specifies more than one from 'int32_false_true', 'fp32_false_true' and "
         "'bool_false_true'" +
         ForKind(subject);
}

Violation TwoValues(const ControlSubject& subject) {
  const Control& control = subject.control;
  const auto wrong = [&](const char* field) {
    return "sequence batching control '" + std::string(field) + "' must have exactly 2 entries" +
           ForKind(subject);
  };
  const auto bad = [](int size) { return size != 0 && size != 2; };
  if (bad(control.int32_false_true_size())) return wrong("int32_false_true");
  if (bad(control.fp32_false_true_size())) return wrong("fp32_false_true");
  if (bad(control.bool_false_true_size())) return wrong("bool_false_true");
  return std::nullopt;
}

// START, END, READY.
constexpr Rule<ControlSubject> kBooleanRules[] = {
    {"sequence.control_values", "sequence_batching.control_input.control", ValuesGiven},
    {"sequence.control_values_one_type", "sequence_batching.control_input.control",
     ValuesOfOneType},
    {"sequence.control_values_count", "sequence_batching.control_input.control", TwoValues},
};

Violation NoValues(const ControlSubject& subject) {
  if (ValueLists(subject.control) == 0) return std::nullopt;
  return "sequence batching must not specify either 'int32_false_true', 'fp32_false_true' or "
         "'bool_false_true'" +
         ForKind(subject);
}

Violation IdType(const ControlSubject& subject) {
  switch (subject.control.data_type()) {
    case inference::TYPE_UINT64:
    case inference::TYPE_INT64:
    case inference::TYPE_UINT32:
    case inference::TYPE_INT32:
    case inference::TYPE_STRING:
      return std::nullopt;
    default:
      return "unexpected data type for control CONTROL_SEQUENCE_CORRID for " +
             subject.config.name() +
             ". Allowed data types are TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 and "
             "TYPE_STRING";
  }
}

constexpr Rule<ControlSubject> kIdRules[] = {
    {"sequence.corrid_values", "sequence_batching.control_input.control", NoValues},
    {"sequence.corrid_type", "sequence_batching.control_input.control.data_type", IdType},
};

// One pass over all controls, looking at those of `kind`.
Violation CheckControls(const Proto& config, Control::Kind kind) {
  std::set<std::string> names;
  bool kind_seen = false;
  for (const auto& input : config.sequence_batching().control_input()) {
    const bool name_seen = !names.insert(input.name()).second;
    if (auto violation = FirstViolation(kTensorRules, TensorSubject{config, input, name_seen})) {
      return violation;
    }
    for (const Control& control : input.control()) {
      if (control.kind() != kind) continue;
      const ControlSubject subject{config, control, kind_seen};
      if (auto violation = FirstViolation(kKindRules, subject)) return violation;
      kind_seen = true;
      auto violation = kind == Control::CONTROL_SEQUENCE_CORRID
                           ? FirstViolation(kIdRules, subject)
                           : FirstViolation(kBooleanRules, subject);
      if (violation) return violation;
    }
  }
  return std::nullopt;
}

struct SizeSubject {
  const Proto& config;
  int32_t size;
};

Violation SizePositive(const SizeSubject& subject) {
  if (subject.size > 0) return std::nullopt;
  return "sequence batching preferred batch size must be positive for " + subject.config.name();
}

Violation SizeFits(const SizeSubject& subject) {
  if (subject.size <= subject.config.max_batch_size()) return std::nullopt;
  return "sequence batching preferred batch size must be <= max batch size for " +
         subject.config.name();
}

constexpr Rule<SizeSubject> kSizeRules[] = {
    {"sequence.preferred_positive", "sequence_batching.oldest.preferred_batch_size", SizePositive},
    {"sequence.preferred_max", "sequence_batching.oldest.preferred_batch_size", SizeFits},
};

// The text says that 0 is out of range; it is not, here as in the reference server.
Violation Utilization(const Proto& config) {
  const auto& batching = config.sequence_batching();
  const float value = batching.direct().minimum_slot_utilization();
  if (!batching.has_direct() || (value >= 0.0f && value <= 1.0f)) return std::nullopt;
  return "sequence batching minimum slot utilization must be in range (0.0, 1.0] for " +
         config.name();
}

constexpr Rule<Proto> kStrategyRules[] = {
    {"sequence.slot_utilization", "sequence_batching.direct.minimum_slot_utilization", Utilization},
};

}  // namespace

Violation CheckSequenceBatching(const Proto& config) {
  if (!config.has_sequence_batching()) return std::nullopt;
  if (auto violation = FirstViolation(kRules, config)) return violation;
  for (const auto kind : {Control::CONTROL_SEQUENCE_START, Control::CONTROL_SEQUENCE_END,
                          Control::CONTROL_SEQUENCE_READY, Control::CONTROL_SEQUENCE_CORRID}) {
    if (auto violation = CheckControls(config, kind)) return violation;
  }
  for (const int32_t size : config.sequence_batching().oldest().preferred_batch_size()) {
    if (auto violation = FirstViolation(kSizeRules, SizeSubject{config, size})) return violation;
  }
  return FirstViolation(kStrategyRules, config);
}

void ListSequenceBatching(std::vector<RuleInfo>* list) {
  List(kRules, list);
  List(kTensorRules, list);
  List(kKindRules, list);
  List(kBooleanRules, list);
  List(kIdRules, list);
  List(kSizeRules, list);
  List(kStrategyRules, list);
}

}  // namespace nereid::config::rules
