// SPDX-License-Identifier: Apache-2.0
// nereid explain: prints the effective configuration of a model and the origin of each value.
#include <algorithm>

#include "app/options/flag_words.h"
#include "app/tools/explain_threads.h"
#include "app/tools/explanation.h"
#include "app/tools/report_text.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "base/files.h"
#include "config/describe/describe.h"

namespace nereid::app::tools {
namespace {

using config::ExplainedField;
using config::FieldOrigin;

constexpr ToolFlag kFlags[] = {
    {"format", "text|json|config-json",
     "Output format; config-json is the response of the server's config endpoint (default text)"},
    {"field", "path",
     "Print only this field with its subfields, for example --field=input[0].dims"},
    {"model-config-name", "string", "Use configs/<string>.pbtxt if the model has this file"},
    {"load", "", "Load the model, so that its backend completes the configuration"},
    {"backend-directory", "path", "Directory of the backends, for --load (default: as for serve)"},
    {"metrics-url", "url",
     "Metrics page of a server, such as http://localhost:8002/metrics: also print how many threads "
     "the model's executions have there, and why"},
    {"disable-auto-complete-config", "",
     "With --load: do not let the backend complete the configuration"},
    {"help", "", "Print this text"},
};

constexpr std::string_view kUsage =
    "Usage: nereid explain <model directory> [flags]\n"
    "\n"
    "Prints the effective configuration of a model, field by field, with the origin of each "
    "value:\n"
    "the position in config.pbtxt, the model's files, or a default of the server. Without --load "
    "no\n"
    "model is loaded, and the values that only the backend knows are missing.\n"
    "\n"
    "Exit codes: 0 success; 1 the configuration cannot be read or the model cannot be loaded; 2 "
    "the\n"
    "command could not run.\n"
    "\n";

base::Result<Explanation> Explain(const std::string& directory, const ToolArguments& arguments,
                                  const ToolContext& context) {
  const std::string name = arguments.Get("model-config-name");
  if (!arguments.Has("load")) return ExplainModel(directory, name);
  return ExplainModel(directory, name, [&](const std::string& absolute) {
    return context.load({absolute, name,
                         arguments.Get("backend-directory", context.backend_directory),
                         arguments.Has("disable-auto-complete-config")});
  });
}

bool IsWithin(const std::string& path, const std::string& field) {
  if (!path.starts_with(field)) return false;
  return path.size() == field.size() || path[field.size()] == '.' || path[field.size()] == '[';
}

std::string OriginText(const Explanation& explanation, const ExplainedField& field) {
  if (field.origin == FieldOrigin::kWritten) {
    return explanation.config_path + ":" + std::to_string(field.position.line) + ":" +
           std::to_string(field.position.column);
  }
  return std::string(config::FieldOriginName(field.origin)) + ": " + field.reason +
         (field.rule.empty() ? "" : " [" + field.rule + "]");
}

std::string Text(const Explanation& explanation) {
  constexpr size_t kMaxWidth = 72;
  size_t width = 0;
  for (const ExplainedField& field : explanation.fields) {
    width = std::max(width, field.path.size() + field.value.size() + 2);
  }
  width = std::min(width, kMaxWidth);
  std::string text;
  for (const ExplainedField& field : explanation.fields) {
    std::string line = field.path + ": " + field.value;
    line.resize(std::max(width, line.size()), ' ');
    text += OneLine(line + "  " + OriginText(explanation, field)) + "\n";
  }
  return text;
}

// Keeps only the field `path` and its subfields. A field that is not set has the default value of
// its type.
base::Status Select(const std::string& path, Explanation* explanation) {
  const auto unset = config::UnsetFieldValue(path);
  if (!unset) return base::Status::NotFound("the configuration has no field '" + path + "'");
  auto& fields = explanation->fields;
  std::erase_if(fields, [&](const ExplainedField& field) { return !IsWithin(field.path, path); });
  if (fields.empty()) {
    fields.push_back({path, *unset, FieldOrigin::kDefault, {}, "", "it is not set"});
  }
  return base::Status::Ok();
}

ToolResult ResultText(const Explanation& explanation, const ToolArguments& arguments,
                      const ToolContext& context) {
  if (!arguments.Has("metrics-url")) return {0, Text(explanation), ""};
  const auto threads =
      FetchThreadsText(context, arguments.Get("metrics-url"), explanation.effective->name());
  if (!threads.ok()) return CannotRun("explain", threads.status().message());
  return {0, Text(explanation) + *threads, ""};
}

}  // namespace

ToolResult RunExplain(std::span<const std::string> words, const ToolContext& context) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return CannotRun("explain", arguments.status().message());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  const std::string format = arguments->Get("format", "text");
  if (format != "text" && format != "json" && format != "config-json") {
    return CannotRun("explain", "--format must be text, json or config-json, not '" + format + "'");
  }
  if (arguments->words().size() != 1) return CannotRun("explain", "expected one model directory");
  if (format == "config-json" && arguments->Has("field")) {
    return CannotRun("explain", "--field cannot be combined with --format=config-json");
  }
  if (format != "text" && arguments->Has("metrics-url")) {
    return CannotRun("explain", "--metrics-url needs --format=text");
  }
  const std::string& directory = arguments->words().front();
  if (!base::IsDirectory(directory)) {
    return CannotRun("explain", "no such directory: " + directory);
  }
  if (arguments->Has("load") && !context.load) {
    return CannotRun("explain", "this program cannot load models");
  }
  auto explanation = Explain(directory, *arguments, context);
  if (!explanation.ok()) {
    return {1, "", OneLine("nereid explain: " + explanation.status().message()) + "\n"};
  }
  if (arguments->Has("field")) {
    const base::Status selected = Select(arguments->Get("field"), &*explanation);
    if (!selected.ok()) return CannotRun("explain", selected.message());
  }
  if (format == "json") return {0, ExplanationJson(*explanation), ""};
  if (format == "text") return ResultText(*explanation, *arguments, context);
  return {0, config::DescribeModelConfigJson(*explanation->effective) + "\n", ""};
}

}  // namespace nereid::app::tools
