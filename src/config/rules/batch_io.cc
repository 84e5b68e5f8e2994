// SPDX-License-Identifier: Apache-2.0
// Rules for inputs that the server derives from a batch and outputs that it scatters.
#include <algorithm>
#include <set>
#include <type_traits>

#include "config/rules/sections.h"

namespace nereid::config::rules {
namespace {

using inference::BatchInput;
using inference::BatchOutput;

template <typename Tensors>
bool Has(const Tensors& tensors, const std::string& name) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const auto& tensor) { return tensor.name() == name; });
}

// A batch input or a batch output, with its position.
template <typename Entry>
struct EntrySubject {
  const Proto& config;
  const Entry& entry;
  int index;
  // "batch input" or "batch output".
  const char* what;
  std::string Path(std::string_view field) const {
    constexpr bool kInput = std::is_same_v<Entry, BatchInput>;
    return At(kInput ? "batch_input" : "batch_output", index) + "." + std::string(field);
  }
};
using InputSubject = EntrySubject<BatchInput>;
using OutputSubject = EntrySubject<BatchOutput>;

template <typename Entry>
void KindKnown(const EntrySubject<Entry>& subject, Findings& findings) {
  if (Entry::Kind_IsValid(subject.entry.kind())) return;
  findings.Add(subject.Path("kind"), std::string("unknown ") + subject.what + " kind '" +
                                         std::to_string(subject.entry.kind()) + "' for " +
                                         subject.config.name());
}

// Every known kind has exactly one source.
template <typename Entry>
void OneSource(const EntrySubject<Entry>& subject, Findings& findings) {
  const int count = subject.entry.source_input_size();
  if (count == 1 || !Entry::Kind_IsValid(subject.entry.kind())) return;
  findings.Add(subject.Path("source_input"),
               std::string(subject.what) + " kind '" + Entry::Kind_Name(subject.entry.kind()) +
                   "' expects 1 source input, got " + std::to_string(count) + " for " +
                   subject.config.name());
}

void InputType(const InputSubject& subject, Findings& findings) {
  const auto type = subject.entry.data_type();
  if (type == inference::TYPE_INT32 || type == inference::TYPE_FP32) return;
  findings.Add(
      subject.Path("data_type"),
      "batch input data type must be TYPE_INT32 or TYPE_FP32 for " + subject.config.name());
}

template <typename Entry>
void SourceKnown(const EntrySubject<Entry>& subject, Findings& findings) {
  int position = 0;
  for (const std::string& name : subject.entry.source_input()) {
    const std::string path = At("source_input", position++);
    if (Has(subject.config.input(), name)) continue;
    findings.Add(subject.Path(path),
                 "unknown source input name '" + name + "' for " + subject.config.name());
  }
}

constexpr Rule<InputSubject> kInputRules[] = {
    {{"batch_input.kind", "batch_input.kind", "The kind of a batch input is one of the list.",
      "a kind of batch input", "Use one of the kinds that BatchInput lists."},
     KindKnown<BatchInput>},
    {{"batch_input.source_count", "batch_input.source_input",
      "A batch input is derived from one input.", "one source_input",
      "List one input in source_input."},
     OneSource<BatchInput>},
    {{"batch_input.data_type", "batch_input.data_type",
      "A batch input holds 32 bit integers or floats.", "TYPE_INT32 or TYPE_FP32",
      "Set data_type to TYPE_INT32 or TYPE_FP32."},
     InputType},
    {{"batch_input.source", "batch_input.source_input",
      "The source of a batch input is an input of the model.", "the name of an input",
      "Name one of the inputs in source_input."},
     SourceKnown<BatchInput>},
};

void TargetKnown(const OutputSubject& subject, Findings& findings) {
  int position = 0;
  for (const std::string& name : subject.entry.target_name()) {
    const std::string path = At("target_name", position++);
    if (Has(subject.config.output(), name)) continue;
    findings.Add(subject.Path(path),
                 "unknown target output name '" + name + "' for " + subject.config.name());
  }
}

// Checks one batch output. The same target in two batch outputs is accepted, as in Triton.
void TargetOnce(const OutputSubject& subject, Findings& findings) {
  std::set<std::string> seen;
  int position = 0;
  for (const std::string& name : subject.entry.target_name()) {
    const std::string path = At("target_name", position++);
    if (seen.insert(name).second) continue;
    findings.Add(subject.Path(path), "target output name '" + name +
                                         "' can only be specified once for " +
                                         subject.config.name());
  }
}

constexpr Rule<OutputSubject> kOutputRules[] = {
    {{"batch_output.kind", "batch_output.kind", "The kind of a batch output is one of the list.",
      "a kind of batch output", "Use BATCH_SCATTER_WITH_INPUT_SHAPE."},
     KindKnown<BatchOutput>},
    {{"batch_output.source_count", "batch_output.source_input",
      "A batch output is cut by the shape of one input.", "one source_input",
      "List one input in source_input."},
     OneSource<BatchOutput>},
    {{"batch_output.source", "batch_output.source_input",
      "The source of a batch output is an input of the model.", "the name of an input",
      "Name one of the inputs in source_input."},
     SourceKnown<BatchOutput>},
    {{"batch_output.target", "batch_output.target_name",
      "The target of a batch output is an output of the model.", "the name of an output",
      "Name one of the outputs in target_name."},
     TargetKnown},
    {{"batch_output.target_once", "batch_output.target_name",
      "A batch output names each target once.", "each output once",
      "Remove the repeated name from target_name."},
     TargetOnce},
};

}  // namespace

void CheckBatchIo(const Proto& config, Findings& findings) {
  int index = 0;
  for (const BatchInput& input : config.batch_input()) {
    Apply(kInputRules, InputSubject{config, input, index++, "batch input"}, findings);
  }
  index = 0;
  for (const BatchOutput& output : config.batch_output()) {
    Apply(kOutputRules, OutputSubject{config, output, index++, "batch output"}, findings);
  }
}

void ListBatchIo(std::vector<RuleInfo>* list) {
  List(kInputRules, Stage::kLoadOrStrictPoll, list);
  List(kOutputRules, Stage::kLoadOrStrictPoll, list);
}

}  // namespace nereid::config::rules
