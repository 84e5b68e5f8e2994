// SPDX-License-Identifier: Apache-2.0
#include "app/tools/explanation.h"

#include <filesystem>
#include <map>

#include "app/tools/member_files.h"
#include "app/tools/report_text.h"
#include "base/files.h"
#include "base/json_writer.h"
#include "config/complete/complete.h"
#include "config/complete/instance_groups.h"
#include "config/describe/describe.h"
#include "config/text/fields.h"
#include "config/text/outline.h"
#include "config/text/read_text.h"
#include "repository/config_file.h"
#include "repository/ensemble_links.h"

namespace nereid::app::tools {
namespace {

using config::ExplainedField;
using config::FieldOrigin;

void WriteField(const Explanation& explanation, const ExplainedField& field,
                base::JsonWriter* json) {
  json->BeginObject();
  WriteMember("path", field.path, json);
  WriteMember("value", field.value, json);
  WriteMember("origin", config::FieldOriginName(field.origin), json);
  if (field.origin == FieldOrigin::kWritten) {
    WriteMember("file", explanation.config_path, json);
  } else {
    json->Key("file").Null();
  }
  WritePosition(field.position, json);
  WriteMember("rule", field.rule, json);
  WriteMember("reason", field.reason, json);
  json->EndObject();
}

}  // namespace

base::Result<Explanation> ExplainModel(const std::string& directory, const std::string& config_name,
                                       const LoadedConfig& loaded) {
  Explanation explanation;
  explanation.config_path = repository::ConfigFilePath(directory, config_name);
  std::string text;
  if (base::PathExists(explanation.config_path)) {
    NEREID_ASSIGN_OR_RETURN(
        text, base::ReadFile(explanation.config_path, repository::kMaxConfigFileBytes));
  }
  const auto reading = config::ReadModelConfigText(text, 1);
  if (!reading.problems.empty()) {
    const config::TextProblem& problem = reading.problems.front();
    return base::Status::InvalidArgument(explanation.config_path + ":" +
                                         std::to_string(problem.position.line) + ":" +
                                         std::to_string(problem.position.column) + ": " +
                                         problem.message + "; nereid check lists all problems");
  }
  NEREID_ASSIGN_OR_RETURN(auto files, config::ReadModelFiles(directory));
  std::error_code error;
  const auto absolute = std::filesystem::weakly_canonical(directory, error);
  if (!error) files.directory_name = absolute.filename().string();
  explanation.model = files.directory_name;
  NEREID_ASSIGN_OR_RETURN(const auto completed,
                          config::CompleteModelConfig(*reading.config, files));
  const auto offline = config::CompleteInstanceGroups(*completed, {});
  explanation.effective = offline;
  if (loaded != nullptr) {
    NEREID_ASSIGN_OR_RETURN(explanation.effective, loaded(absolute.string()));
  }
  if (!repository::MembersOf(*explanation.effective).empty()) {
    NEREID_ASSIGN_OR_RETURN(explanation.effective,
                            WithDecoupledOfMembers(directory, *explanation.effective));
  }
  const auto places = config::Locations::Of(config::ReadOutline(text, config::TextLines(text)));
  explanation.fields = config::ExplainModelConfig(
      *explanation.effective,
      {*reading.config, places, files, loaded != nullptr ? offline.get() : nullptr});
  return explanation;
}

void MarkLoadedValues(const Explanation& before_load, Explanation* explanation) {
  std::map<std::string_view, std::string_view> in_file;
  for (const ExplainedField& field : before_load.fields) {
    if (field.origin == FieldOrigin::kWritten) in_file.emplace(field.path, field.value);
  }
  for (ExplainedField& field : explanation->fields) {
    const auto found = in_file.find(field.path);
    if (found == in_file.end() || found->second == field.value) continue;
    field.origin = FieldOrigin::kLoaded;
    field.position = {};
    field.reason =
        "the model was loaded with this value; the file has " + std::string(found->second);
  }
}

std::string ExplanationJson(const Explanation& explanation) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginObject().Key("format").Integer(1);
  WriteMember("model", explanation.model, &json);
  json.Key("fields").BeginArray();
  for (const ExplainedField& field : explanation.fields) {
    WriteField(explanation, field, &json.NewLine());
  }
  json.EndArray().NewLine().Key("config");
  json.Raw(config::DescribeModelConfigJson(*explanation.effective)).EndObject();
  return text + "\n";
}

}  // namespace nereid::app::tools
