// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: a config.pbtxt through everything that nereid check and nereid explain do with
// it, with an ensemble's members being the model itself.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "config/complete/complete.h"
#include "config/complete/instance_groups.h"
#include "config/describe/explain.h"
#include "config/parse/parse.h"
#include "config/rules/ensemble_members.h"
#include "config/rules/find_problems.h"
#include "config/text/fields.h"
#include "config/text/outline.h"
#include "config/text/read_text.h"

namespace {

using namespace nereid::config;

void Require(bool holds) {
  if (!holds) __builtin_trap();
}

void RequireInside(TextPosition position, std::string_view text) {
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  Require(position.line >= 1 && position.line <= lines && position.column >= 1 &&
          static_cast<size_t>(position.column) <= text.size() + 1);
}

void Check(const ModelConfigPtr& written, const Locations& places, std::string_view text) {
  ModelFiles files;
  files.directory_name = "model";
  files.subdirectories["1"].push_back({"model.onnx", false});
  const auto completed = CompleteModelConfig(*written, files);
  if (!completed.ok()) return;
  const ModelConfigPtr config = CompleteInstanceGroups(**completed, {});
  const auto problems = FindProblems(*config, ValidateOptions::ForAll(0, "model"));
  for (const Problem& problem : problems) RequireInside(places.Nearest(problem.field), text);
  const bool valid = ValidateModelConfig(*config, ValidateOptions::ForAll(0, "model")).ok();
  const bool errors = std::any_of(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.severity == Severity::kError;
  });
  Require(valid != errors);
  const EnsembleMember self{config.get(), {1}, false};
  for (const Problem& problem :
       FindMemberProblems(*config, [&](const std::string&) { return &self; })) {
    RequireInside(places.Nearest(problem.field), text);
  }
  for (const ExplainedField& field : ExplainModelConfig(*config, {*written, places, files})) {
    if (field.origin == FieldOrigin::kWritten) RequireInside(field.position, text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr size_t kMaxProblems = 20;
  const TextReading reading = ReadModelConfigText(text, kMaxProblems);
  // The server and the check agree on what can be read.
  Require(ParseModelConfigText(text, "fuzz").ok() == reading.problems.empty());
  for (const TextProblem& problem : reading.problems) RequireInside(problem.position, text);
  if (reading.config == nullptr) return 0;
  const std::string_view read = reading.blanked.empty() ? text : std::string_view(reading.blanked);
  Check(reading.config, Locations::Of(ReadOutline(read, TextLines(read))), read);
  return 0;
}
