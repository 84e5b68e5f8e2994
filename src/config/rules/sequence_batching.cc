// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "config/rules/sections.h"

namespace nereid::config::rules {
namespace {

using inference::ModelSequenceBatching;
using Control = ModelSequenceBatching::Control;

void NoResponseCache(const Proto& config, Findings& findings) {
  if (!config.response_cache().enable()) return;
  findings.Add("response_cache.enable",
               "Response Cache does not currently support model " + config.name() +
                   " with sequence batching scheduler. Please disable the response cache.");
}

constexpr Rule<Proto> kRules[] = {
    {{"sequence.response_cache", "response_cache.enable",
      "A model of sequences has no response cache: its answers depend on earlier requests.",
      "response_cache off", "Remove response_cache."},
     NoResponseCache},
};

// An input that carries controls.
struct TensorSubject {
  const Proto& config;
  const ModelSequenceBatching::ControlInput& input;
  int index;
  bool name_seen;

  std::string Path(std::string_view field) const {
    return At("sequence_batching.control_input", index) + "." + std::string(field);
  }
};

void TensorNamed(const TensorSubject& subject, Findings& findings) {
  if (!subject.input.name().empty()) return;
  findings.Add(subject.Path("name"),
               "sequence batching control tensor must have a name for " + subject.config.name());
}

void TensorOnce(const TensorSubject& subject, Findings& findings) {
  if (!subject.name_seen || subject.input.name().empty()) return;
  findings.Add(subject.Path("name"), "sequence batching control tensor '" + subject.input.name() +
                                         "' is specified for multiple control kinds for " +
                                         subject.config.name());
}

constexpr Rule<TensorSubject> kTensorRules[] = {
    {{"sequence.control_name", "sequence_batching.control_input.name",
      "A control input has a name.", "a name that is not empty",
      "Set name to the model's input that takes the control."},
     TensorNamed},
    {{"sequence.control_tensor_once", "sequence_batching.control_input.name",
      "A control input is listed once.", "a name that no other control_input has",
      "Give every control an input of its own."},
     TensorOnce},
};

struct ControlSubject {
  const TensorSubject& tensor;
  const Control& control;
  int index;
  bool kind_seen;

  std::string Path(std::string_view field) const {
    const std::string item = At("control", index);
    return tensor.Path(field.empty() ? item : item + "." + std::string(field));
  }
};

std::string ForKind(const ControlSubject& subject) {
  return " for " + Control::Kind_Name(subject.control.kind()) + " for " +
         subject.tensor.config.name();
}

int ValueLists(const Control& control) {
  return (control.int32_false_true().empty() ? 0 : 1) +
         (control.fp32_false_true().empty() ? 0 : 1) + (control.bool_false_true().empty() ? 0 : 1);
}

void KindOnce(const ControlSubject& subject, Findings& findings) {
  if (!subject.kind_seen) return;
  findings.Add(subject.Path("kind"), "sequence batching specifies multiple " +
                                         Control::Kind_Name(subject.control.kind()) +
                                         " tensors for " + subject.tensor.config.name());
}

constexpr Rule<ControlSubject> kKindRules[] = {
    {{"sequence.control_kind_once", "sequence_batching.control_input.control.kind",
      "A kind of control goes into one tensor.", "each kind once",
      "Remove all controls of that kind but one."},
     KindOnce},
};

void ValuesGiven(const ControlSubject& subject, Findings& findings) {
  if (ValueLists(subject.control) > 0) return;
  findings.Add(subject.Path(""),
               "sequence batching must specify either 'int32_false_true', 'fp32_false_true' or "
               "'bool_false_true'" +
                   ForKind(subject));
}

void ValuesOfOneType(const ControlSubject& subject, Findings& findings) {
  if (ValueLists(subject.control) < 2) return;
  findings.Add(subject.Path(""),
               "sequence batching specifies more than one from 'int32_false_true', "
               "'fp32_false_true' and 'bool_false_true'" +
                   ForKind(subject));
}

void TwoValues(const ControlSubject& subject, Findings& findings) {
  const Control& control = subject.control;
  const auto check = [&](const char* field, int size) {
    if (size == 0 || size == 2) return;
    findings.Add(subject.Path(field), "sequence batching control '" + std::string(field) +
                                          "' must have exactly 2 entries" + ForKind(subject));
  };
  check("int32_false_true", control.int32_false_true_size());
  check("fp32_false_true", control.fp32_false_true_size());
  check("bool_false_true", control.bool_false_true_size());
}

// Rules for the controls START, END and READY.
constexpr Rule<ControlSubject> kBooleanRules[] = {
    {{"sequence.control_values", "sequence_batching.control_input.control",
      "The controls START, END and READY have values for false and true.",
      "int32_false_true, fp32_false_true or bool_false_true",
      "Add int32_false_true: [ 0, 1 ], or its like for floats or bools."},
     ValuesGiven},
    {{"sequence.control_values_one_type", "sequence_batching.control_input.control",
      "The values of a control have one type.", "one list of values",
      "Remove all lists of values but one."},
     ValuesOfOneType},
    {{"sequence.control_values_count", "sequence_batching.control_input.control",
      "A control has two values: for false and for true.", "two values",
      "List the value for false and the value for true."},
     TwoValues},
};

void NoValues(const ControlSubject& subject, Findings& findings) {
  if (ValueLists(subject.control) == 0) return;
  findings.Add(subject.Path(""),
               "sequence batching must not specify either 'int32_false_true', 'fp32_false_true' or "
               "'bool_false_true'" +
                   ForKind(subject));
}

void IdType(const ControlSubject& subject, Findings& findings) {
  switch (subject.control.data_type()) {
    case inference::TYPE_UINT64:
    case inference::TYPE_INT64:
    case inference::TYPE_UINT32:
    case inference::TYPE_INT32:
    case inference::TYPE_STRING:
      return;
    default:
      findings.Add(subject.Path("data_type"),
                   "unexpected data type for control CONTROL_SEQUENCE_CORRID for " +
                       subject.tensor.config.name() +
                       ". Allowed data types are TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 "
                       "and TYPE_STRING");
  }
}

constexpr Rule<ControlSubject> kIdRules[] = {
    {{"sequence.corrid_values", "sequence_batching.control_input.control",
      "The control CORRID has no values for false and true.", "data_type alone",
      "Remove the lists of values."},
     NoValues},
    {{"sequence.corrid_type", "sequence_batching.control_input.control.data_type",
      "A correlation id is an integer of 32 or 64 bits, or a string.",
      "TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 or TYPE_STRING",
      "Set data_type to the type of the model's input."},
     IdType},
};

// Checks the controls of one kind in a pass over all controls. The kinds are checked one after
// another, in Triton's order, because only the first error is reported.
void CheckControls(const Proto& config, Control::Kind kind, Findings& findings) {
  std::set<std::string> names;
  bool kind_seen = false;
  int index = 0;
  for (const auto& input : config.sequence_batching().control_input()) {
    const bool name_seen = !names.insert(input.name()).second;
    const TensorSubject tensor{config, input, index++, name_seen};
    Apply(kTensorRules, tensor, findings);
    int position = 0;
    for (const Control& control : input.control()) {
      const ControlSubject subject{tensor, control, position++, kind_seen};
      if (control.kind() != kind) continue;
      Apply(kKindRules, subject, findings);
      kind_seen = true;
      if (kind == Control::CONTROL_SEQUENCE_CORRID) {
        Apply(kIdRules, subject, findings);
      } else {
        Apply(kBooleanRules, subject, findings);
      }
    }
  }
}

constexpr std::string_view kSizes = "sequence_batching.oldest.preferred_batch_size";

struct SizeSubject {
  const Proto& config;
  int index;
  int32_t size;
};

void SizePositive(const SizeSubject& subject, Findings& findings) {
  if (subject.size > 0) return;
  findings.Add(
      At(kSizes, subject.index),
      "sequence batching preferred batch size must be positive for " + subject.config.name());
}

void SizeFits(const SizeSubject& subject, Findings& findings) {
  const int32_t largest = subject.config.max_batch_size();
  if (subject.size <= 0 || largest < 0 || subject.size <= largest) return;
  findings.Add(At(kSizes, subject.index),
               "sequence batching preferred batch size must be <= max batch size for " +
                   subject.config.name(),
               "at most " + std::to_string(largest) + " (max_batch_size)");
}

constexpr Rule<SizeSubject> kSizeRules[] = {
    {{"sequence.preferred_positive", kSizes, "A preferred batch size is positive.", "1 or more",
      "Remove the size: it can never be reached."},
     SizePositive},
    {{"sequence.preferred_max", kSizes, "A preferred batch size is at most max_batch_size.",
      "at most max_batch_size", "Lower the preferred size, or raise max_batch_size."},
     SizeFits},
};

// Triton's message says that 0 is out of range, but Triton accepts 0, and so does this rule.
void Utilization(const Proto& config, Findings& findings) {
  const auto& batching = config.sequence_batching();
  const float value = batching.direct().minimum_slot_utilization();
  if (!batching.has_direct() || (value >= 0.0f && value <= 1.0f)) return;
  findings.Add("sequence_batching.direct.minimum_slot_utilization",
               "sequence batching minimum slot utilization must be in range (0.0, 1.0] for " +
                   config.name());
}

constexpr Rule<Proto> kStrategyRules[] = {
    {{"sequence.slot_utilization", "sequence_batching.direct.minimum_slot_utilization",
      "The share of slots that a batch waits for is from 0 to 1.", "0.0 to 1.0",
      "Write the share as a fraction, as in 0.5."},
     Utilization},
};

}  // namespace

void CheckSequenceBatching(const Proto& config, Findings& findings) {
  if (!config.has_sequence_batching()) return;
  Apply(kRules, config, findings);
  for (const auto kind : {Control::CONTROL_SEQUENCE_START, Control::CONTROL_SEQUENCE_END,
                          Control::CONTROL_SEQUENCE_READY, Control::CONTROL_SEQUENCE_CORRID}) {
    CheckControls(config, kind, findings);
  }
  int index = 0;
  for (const int32_t size : config.sequence_batching().oldest().preferred_batch_size()) {
    Apply(kSizeRules, SizeSubject{config, index++, size}, findings);
  }
  Apply(kStrategyRules, config, findings);
}

void ListSequenceBatching(std::vector<RuleInfo>* list) {
  List(kRules, Stage::kPoll, list);
  List(kTensorRules, Stage::kPoll, list);
  List(kKindRules, Stage::kPoll, list);
  List(kBooleanRules, Stage::kPoll, list);
  List(kIdRules, Stage::kPoll, list);
  List(kSizeRules, Stage::kPoll, list);
  List(kStrategyRules, Stage::kPoll, list);
}

}  // namespace nereid::config::rules
