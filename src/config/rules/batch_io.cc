// SPDX-License-Identifier: Apache-2.0
// Inputs that the server derives from a batch, and outputs that it scatters.
#include <set>

#include "config/rules/rule.h"

namespace nereid::config::rules {
namespace {

using inference::BatchInput;
using inference::BatchOutput;

bool HasInput(const Proto& config, const std::string& name) {
  for (const auto& input : config.input()) {
    if (input.name() == name) return true;
  }
  return false;
}

bool HasOutput(const Proto& config, const std::string& name) {
  for (const auto& output : config.output()) {
    if (output.name() == name) return true;
  }
  return false;
}

Violation UnknownSource(const Proto& config, const std::string& name) {
  return "unknown source input name '" + name + "' for " + config.name();
}

struct InputSubject {
  const Proto& config;
  const BatchInput& input;
};

Violation InputKindKnown(const InputSubject& subject) {
  if (BatchInput::Kind_IsValid(subject.input.kind())) return std::nullopt;
  return "unknown batch input kind '" + std::to_string(subject.input.kind()) + "' for " +
         subject.config.name();
}

// Every kind there is has one source.
Violation InputHasOneSource(const InputSubject& subject) {
  const int count = subject.input.source_input_size();
  if (count == 1) return std::nullopt;
  return "batch input kind '" + BatchInput::Kind_Name(subject.input.kind()) +
         "' expects 1 source input, got " + std::to_string(count) + " for " + subject.config.name();
}

Violation InputType(const InputSubject& subject) {
  const auto type = subject.input.data_type();
  if (type == inference::TYPE_INT32 || type == inference::TYPE_FP32) return std::nullopt;
  return "batch input data type must be TYPE_INT32 or TYPE_FP32 for " + subject.config.name();
}

Violation InputSourceKnown(const InputSubject& subject) {
  for (const std::string& name : subject.input.source_input()) {
    if (!HasInput(subject.config, name)) return UnknownSource(subject.config, name);
  }
  return std::nullopt;
}

constexpr Rule<InputSubject> kInputRules[] = {
    {"batch_input.kind", "batch_input.kind", InputKindKnown},
    {"batch_input.source_count", "batch_input.source_input", InputHasOneSource},
    {"batch_input.data_type", "batch_input.data_type", InputType},
    {"batch_input.source", "batch_input.source_input", InputSourceKnown},
};

struct OutputSubject {
  const Proto& config;
  const BatchOutput& output;
};

Violation OutputKindKnown(const OutputSubject& subject) {
  if (BatchOutput::Kind_IsValid(subject.output.kind())) return std::nullopt;
  return "unknown batch output kind '" + std::to_string(subject.output.kind()) + "' for " +
         subject.config.name();
}

Violation OutputHasOneSource(const OutputSubject& subject) {
  const int count = subject.output.source_input_size();
  if (count == 1) return std::nullopt;
  return "batch output kind '" + BatchOutput::Kind_Name(subject.output.kind()) +
         "' expects 1 source input, got " + std::to_string(count) + " for " + subject.config.name();
}

Violation OutputSourceKnown(const OutputSubject& subject) {
  for (const std::string& name : subject.output.source_input()) {
    if (!HasInput(subject.config, name)) return UnknownSource(subject.config, name);
  }
  return std::nullopt;
}

Violation TargetKnown(const OutputSubject& subject) {
  for (const std::string& name : subject.output.target_name()) {
    if (!HasOutput(subject.config, name)) {
      return "unknown target output name '" + name + "' for " + subject.config.name();
    }
  }
  return std::nullopt;
}

// Within one batch output, as in the reference server.
Violation TargetOnce(const OutputSubject& subject) {
  std::set<std::string> seen;
  for (const std::string& name : subject.output.target_name()) {
    if (!seen.insert(name).second) {
      return "target output name '" + name + "' can only be specified once for " +
             subject.config.name();
    }
  }
  return std::nullopt;
}

constexpr Rule<OutputSubject> kOutputRules[] = {
    {"batch_output.kind", "batch_output.kind", OutputKindKnown},
    {"batch_output.source_count", "batch_output.source_input", OutputHasOneSource},
    {"batch_output.source", "batch_output.source_input", OutputSourceKnown},
    {"batch_output.target", "batch_output.target_name", TargetKnown},
    {"batch_output.target_once", "batch_output.target_name", TargetOnce},
};

}  // namespace

Violation CheckBatchIo(const Proto& config) {
  for (const BatchInput& input : config.batch_input()) {
    if (auto violation = FirstViolation(kInputRules, InputSubject{config, input})) {
      return violation;
    }
  }
  for (const BatchOutput& output : config.batch_output()) {
    if (auto violation = FirstViolation(kOutputRules, OutputSubject{config, output})) {
      return violation;
    }
  }
  return std::nullopt;
}

void ListBatchIo(std::vector<RuleInfo>* list) {
  List(kInputRules, list);
  List(kOutputRules, list);
}

}  // namespace nereid::config::rules
