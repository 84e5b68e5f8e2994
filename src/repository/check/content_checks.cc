// SPDX-License-Identifier: Apache-2.0
// Checks the content of configurations that nereid init wrote, and of TorchScript files.
#include <sstream>

#include "base/byte_source.h"
#include "base/files.h"
#include "config/init_comments.h"
#include "config/text/fields.h"
#include "config/text/outline.h"
#include "config/text/placeholders.h"
#include "layout/torchscript_file.h"
#include "model_config.pb.h"
#include "repository/check/check_rules.h"
#include "repository/check/model_check.h"

namespace nereid::repository::check {
namespace {

/// Adds a finding for every line that has the comment.
void FindComment(const std::string& text, std::string_view comment, const RuleInfo& rule,
                 CheckedModel* model) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const size_t at = line.find(comment);
    const size_t first = line.find_first_not_of(" \t");
    if (at == std::string::npos || at <= first) continue;
    const size_t last = line.find_last_not_of(" \t", at - 1);
    const std::string value = line.substr(first, last - first + 1);
    model->AddAt(rule, {number, static_cast<int>(first) + 1},
                 "'" + value + "' is an example that nereid init wrote");
  }
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

}  // namespace

void CheckExamples(const std::string& text, CheckedModel* model) {
  FindComment(text, config::kExampleNameComment, kExampleLeft, model);
  FindComment(text, config::kUnknownValueComment, kExampleLeftWarning, model);
}

void CheckPlaceholders(const std::string& text, CheckedModel* model) {
  const config::TextLines lines(text);
  const auto outline = config::ReadOutline(text, lines);
  for (const config::KnownField& field : config::ListFields(outline)) {
    // A parameter may be the template of a chat.
    const bool is_parameter = field.path.starts_with("parameters[");
    for (const config::TextValue& value : field.text->values) {
      const std::string placeholder = config::PlaceholderIn(value.scalar, is_parameter);
      if (placeholder.empty()) continue;
      RuleInfo rule = kPlaceholderLeft;
      const std::string remedy = config::PlaceholderRemedy(placeholder);
      rule.remedy = remedy;
      model->Add(rule, field.path,
                 "the placeholder '" + placeholder + "' in the value of '" + field.text->name +
                     "' is not filled in");
    }
  }
}

void CheckModuleState(CheckedModel* model) {
  const config::ModelConfig& config = *model->config();
  if (config.backend() != "pytorch" || config.proto().has_sequence_batching()) return;
  for (const int64_t version : model->versions()) {
    const std::string path =
        base::JoinPath(base::JoinPath(model->directory().path, std::to_string(version)),
                       config.default_model_filename());
    const auto file = base::OpenByteSource(path);
    if (!file.ok()) continue;
    const auto module = layout::ReadTorchScript(**file);
    if (!module.ok() || module->state.empty()) continue;
    model->AddOfFile(kModuleState, path,
                     "the module keeps state between calls (it assigns " + Joined(module->state) +
                         "), which all clients share");
  }
}

}  // namespace nereid::repository::check
