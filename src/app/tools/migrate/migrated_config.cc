// SPDX-License-Identifier: Apache-2.0
#include "app/tools/migrate/migrated_config.h"

#include <google/protobuf/stubs/strutil.h>

#include <algorithm>

#include "app/tools/init/model_draft.h"
#include "base/json_writer.h"
#include "base/utf8.h"

namespace nereid::app::tools {
namespace {

using base::Status;

/// Returns the shape that the other server's configuration sets for an input, or that of the file.
std::vector<int64_t> ShapeOf(const DraftTensor& input, const MigratedModel& model) {
  auto set = model.shapes.find(input.name);
  if (set == model.shapes.end()) set = model.shapes.find("");
  if (set != model.shapes.end()) return set->second;
  std::vector<int64_t> shape = input.dims;
  if (model.batch && !shape.empty()) shape.front() = *model.batch;
  return shape;
}

bool HasInput(const ConfigDraft& draft, const std::string& name) {
  return std::any_of(draft.inputs.begin(), draft.inputs.end(),
                     [&](const DraftTensor& input) { return input.name == name; });
}

Status CheckShapes(const ConfigDraft& draft, const MigratedModel& model) {
  for (const auto& [name, shape] : model.shapes) {
    if (name.empty() ? draft.inputs.size() == 1 : HasInput(draft, name)) continue;
    return Status::InvalidArgument(name.empty()
                                       ? "shape has one shape, and the model several inputs"
                                       : "shape names '" + name + "', which is no input");
  }
  return {};
}

/// Lets OpenVINO reshape the model where the shapes differ from the file's. What the outputs become
/// is known to OpenVINO alone.
void ApplyShapes(MigratedModel* model, ConfigDraft* draft) {
  bool changes = false;
  for (DraftTensor& input : draft->inputs) {
    std::vector<int64_t> shape = ShapeOf(input, *model);
    changes = changes || shape != input.dims;
    input.dims = std::move(shape);
    input.has_dims = true;
  }
  if (!changes) return;
  model->parameters.emplace_back("RESHAPE_IO_LAYERS", "YES");
  for (DraftTensor& output : draft->outputs) {
    std::fill(output.dims.begin(), output.dims.end(), -1);
    output.note = "The shape follows from those of the inputs.";
  }
}

std::string PolicyText(const MigratedVersions& versions) {
  using Kind = MigratedVersions::Kind;
  if (versions.kind == Kind::kAll) return "version_policy { all { } }\n";
  if (versions.kind == Kind::kLatest) {
    if (versions.count == 1) return "";  // also the default here
    return "version_policy { latest { num_versions: " +
           std::to_string(std::min<int64_t>(versions.count, INT32_MAX)) + " } }\n";
  }
  std::string list;
  for (const int64_t version : versions.versions) {
    list += (list.empty() ? " " : ", ") + std::to_string(version);
  }
  return "version_policy { specific { versions: [" + list + " ] } }\n";
}

}  // namespace

std::string QuotedText(const std::string& text) {
  return "\"" + google::protobuf::strings::Utf8SafeCEscape(base::ReplaceInvalidUtf8(text)) + "\"";
}

base::Result<ConfigDraft> DraftOfMigrated(const ModelFiles& files, MigratedModel* model) {
  NEREID_ASSIGN_OR_RETURN(ConfigDraft draft, DraftOfModel(files.model, ""));
  draft.backend = files.backend;
  draft.platform = files.platform;
  draft.default_model_filename = files.default_model_filename;
  draft.notes = {"Made by nereid migrate."};
  NEREID_RETURN_IF_ERROR(CheckShapes(draft, *model));
  if (!model->shapes.empty() || model->batch) ApplyShapes(model, &draft);
  return draft;
}

std::string MigratedConfig(const ConfigDraft& draft, MigratedModel* model) {
  ConfigDraft written = draft;
  int32_t batch = model->max_batch_size;
  if (batch > 0 && !CanBatch(draft)) {
    model->notes.emplace_back(
        "batching: not every input and output has a variable first dimension, so requests do not "
        "batch");
    batch = 0;
  }
  written.queue_delay_us = model->queue_delay_us;
  std::string text = WriteConfig(written, batch);
  const std::string policy = PolicyText(model->versions);
  if (!policy.empty()) text += "\n" + policy;
  if (model->instances) {
    text +=
        "\ninstance_group [ { count: " + std::to_string(std::max<int64_t>(*model->instances, 1)) +
        " kind: KIND_CPU } ]\n";
  }
  if (!model->parameters.empty()) text += "\n";
  for (const auto& [key, value] : model->parameters) {
    text += "parameters { key: " + QuotedText(key) + " value { string_value: " + QuotedText(value) +
            " } }\n";
  }
  return text;
}

std::string RolloutOfLabels(const MigratedModel& model) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginObject().Key("labels").BeginObject();
  for (const auto& [label, version] : model.labels) {
    json.Key(label).Integer(version);
  }
  json.EndObject().EndObject();
  return text + "\n";
}

}  // namespace nereid::app::tools
