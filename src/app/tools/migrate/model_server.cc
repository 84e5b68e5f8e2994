// SPDX-License-Identifier: Apache-2.0
// The members of OpenVINO Model Server's configuration that are read here:
//   model_config_list     [ { config { name, base_path, batch_size, shape, layout, nireq,
//                             target_device, plugin_config, model_version_policy, stateful, … } } ]
//   pipeline_config_list  [ { name, inputs [ … ], outputs [ { LABEL: { node_name, data_item } } ],
//                             nodes [ { name, type, model_name, version, demultiply_count,
//                             gather_from_node,
//                                       inputs [ { INPUT: { node_name, data_item } } ],
//                                       outputs [ { data_item, alias } ] } ] } ]
//   mediapipe_config_list [ { name, … } ]
//   custom_node_library_config_list, monitoring
#include <algorithm>
#include <span>
#include <string>

#include "app/tools/migrate/migration.h"
#include "app/tools/remote/document_reader.h"
#include "base/parse_number.h"

namespace nereid::app::tools {
namespace {

using base::Status;
using codec::json::Cursor;

constexpr size_t kMaxDims = 32;

/// The settings of OpenVINO that its backend takes as parameters of a model.
constexpr std::string_view kBackendSettings[] = {"PERFORMANCE_HINT",
                                                 "NUM_STREAMS",
                                                 "INFERENCE_NUM_THREADS",
                                                 "INFERENCE_PRECISION_HINT",
                                                 "EXECUTION_MODE_HINT",
                                                 "PERFORMANCE_HINT_NUM_REQUESTS",
                                                 "ENABLE_CPU_PINNING",
                                                 "ENABLE_HYPER_THREADING",
                                                 "SCHEDULING_CORE_TYPE",
                                                 "KV_CACHE_PRECISION",
                                                 "DYNAMIC_QUANTIZATION_GROUP_SIZE"};

/// Members that change nothing in how a model answers here.
constexpr std::string_view kWithoutEffect[] = {"metrics", "allow_cache", "idle_sequence_cleanup",
                                               "max_sequence_number", "precision"};

bool Contains(std::span<const std::string_view> list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// Reads a text, a number, true or false as a text. Other values are errors.
Status ReadScalar(Cursor& cursor, std::string_view key, std::string* text) {
  const char first = cursor.Peek();
  if (first == '"') return ReadText(cursor, key, text);
  if (first == '{' || first == '[') {
    return cursor.SyntaxError(("expected a text or a number for " + std::string(key)).c_str());
  }
  const char* const begin = cursor.position();
  NEREID_RETURN_IF_ERROR(cursor.SkipValue());
  text->assign(begin, cursor.position());
  return {};
}

base::Result<int64_t> ReadNumber(Cursor& cursor, std::string_view key, int64_t least) {
  std::string text;
  NEREID_RETURN_IF_ERROR(ReadScalar(cursor, key, &text));
  const auto number = base::ParseWhole<int64_t>(text);
  if (number && *number >= least) return *number;
  return Status::InvalidArgument("'" + std::string(key) + "' needs a whole number of at least " +
                                 std::to_string(least) + ". Got '" + text + "'");
}

/// Parses "(1,3,224,224)" and "1,3,224,224". A range ("1:8") and "?" are any size.
base::Result<std::vector<int64_t>> ParseShape(const std::string& text) {
  std::string_view rest = text;
  const auto trim = [](std::string_view part) {
    const size_t first = part.find_first_not_of(" \t()[]");
    if (first == part.npos) return std::string_view();
    return part.substr(first, part.find_last_not_of(" \t()[]") - first + 1);
  };
  std::vector<int64_t> shape;
  while (!trim(rest).empty()) {
    const size_t comma = rest.find(',');
    const std::string_view part = trim(rest.substr(0, comma));
    const auto size = base::ParseWhole<int64_t>(part);
    const bool any = part == "?" || part == "-1" || part.find(':') != part.npos;
    if ((!any && (!size || *size < 1)) || shape.size() == kMaxDims) {
      return Status::InvalidArgument("the shape '" + text + "' is not a list of up to 32 sizes");
    }
    shape.push_back(any ? -1 : *size);
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
  return shape;
}

/// Reads "auto", the shape of the only input, or an object with the shape of each input.
Status ReadShapes(Cursor& cursor, MigratedModel* model) {
  const auto add = [&](std::string_view input, const std::string& text) -> Status {
    if (text == "auto") {
      model->notes.emplace_back(
          "shape auto: the shapes of the model file hold; make its dimensions variable");
      return {};
    }
    NEREID_ASSIGN_OR_RETURN(model->shapes[std::string(input)], ParseShape(text));
    return {};
  };
  std::string text;
  if (cursor.Peek() == '{') {
    return cursor.ForEachMember([&](std::string_view input) -> Status {
      const std::string name(input);
      NEREID_RETURN_IF_ERROR(ReadScalar(cursor, "shape", &text));
      return add(name, text);
    });
  }
  NEREID_RETURN_IF_ERROR(ReadScalar(cursor, "shape", &text));
  return add("", text);
}

Status ReadBatchSize(Cursor& cursor, MigratedModel* model) {
  std::string text;
  NEREID_RETURN_IF_ERROR(ReadScalar(cursor, "batch_size", &text));
  if (text == "0") return {};
  const auto size = base::ParseWhole<int64_t>(text);
  const bool any = text == "auto" || text == "-1" || text.find(':') != text.npos;
  if (!any && (!size || *size < 1)) {
    return Status::InvalidArgument("'batch_size' needs a whole number or auto. Got '" + text + "'");
  }
  model->batch = any ? -1 : *size;
  return {};
}

Status ReadVersionPolicy(Cursor& cursor, MigratedVersions* versions) {
  using Kind = MigratedVersions::Kind;
  return ReadMembers(cursor, [&](Cursor& at, std::string_view kind) -> Status {
    if (kind != "latest" && kind != "all" && kind != "specific") {
      return Status::InvalidArgument("'model_version_policy' needs latest, all or specific. Got '" +
                                     std::string(kind) + "'");
    }
    versions->kind = kind == "latest" ? Kind::kLatest
                     : kind == "all"  ? Kind::kAll
                                      : Kind::kSpecific;
    return ReadMembers(at, [&](Cursor& value, std::string_view key) -> Status {
      if (key == "num_versions") {
        NEREID_ASSIGN_OR_RETURN(versions->count, ReadNumber(value, key, 1));
        return {};
      }
      if (key != "versions" || value.Peek() != '[') return value.SkipValue();
      return value.ForEachElement([&]() -> Status {
        NEREID_ASSIGN_OR_RETURN(const int64_t version, ReadNumber(value, key, 1));
        versions->versions.push_back(version);
        return {};
      });
    });
  });
}

Status ReadPluginConfig(Cursor& cursor, MigratedModel* model) {
  return ReadMembers(cursor, [&](Cursor& at, std::string_view key) -> Status {
    std::string name(key), value;
    NEREID_RETURN_IF_ERROR(ReadScalar(at, name, &value));
    if (name == "CPU_THROUGHPUT_STREAMS") name = "NUM_STREAMS";
    if (Contains(kBackendSettings, name)) {
      model->parameters.emplace_back(name, value);
    } else {
      model->notes.push_back("plugin_config " + name + ": the backend has no such parameter");
    }
    return {};
  });
}

/// "NHWC:NCHW" transposes the client's tensor; "NCHW" says only what the model has.
Status ReadLayout(Cursor& cursor, MigratedModel* model) {
  bool converts = false;
  const auto read = [&](std::string_view) -> Status {
    std::string text;
    NEREID_RETURN_IF_ERROR(ReadScalar(cursor, "layout", &text));
    const size_t colon = text.find(':');
    converts = converts || (colon != text.npos && text.substr(0, colon) != text.substr(colon + 1));
    return {};
  };
  NEREID_RETURN_IF_ERROR(cursor.Peek() == '{' ? cursor.ForEachMember(read) : read(""));
  if (converts) {
    model->notes.emplace_back(
        "layout with a conversion: clients must send the layout of the model file, or the model "
        "must "
        "be converted with the layout of the clients");
  }
  return {};
}

Status ReadModelMember(Cursor& cursor, std::string_view key, MigratedModel* model) {
  std::string text;
  if (key == "name") return ReadText(cursor, key, &model->name);
  if (key == "base_path") return ReadText(cursor, key, &model->base_path);
  if (key == "batch_size") return ReadBatchSize(cursor, model);
  if (key == "shape") return ReadShapes(cursor, model);
  if (key == "layout") return ReadLayout(cursor, model);
  if (key == "model_version_policy") return ReadVersionPolicy(cursor, &model->versions);
  if (key == "plugin_config") return ReadPluginConfig(cursor, model);
  if (key == "nireq") {
    NEREID_ASSIGN_OR_RETURN(const int64_t count, ReadNumber(cursor, key, 0));
    if (count > 0) model->instances = std::min<int64_t>(count, 1024);
    return {};
  }
  if (key == "target_device") {
    NEREID_RETURN_IF_ERROR(ReadScalar(cursor, key, &text));
    if (text != "CPU") model->parameters.emplace_back("TARGET_DEVICE", text);
    return {};
  }
  if (key == "stateful") {
    NEREID_RETURN_IF_ERROR(ReadScalar(cursor, key, &text));
    if (text == "true") {
      model->notes.emplace_back(
          "stateful: name the model's variables in sequence_batching.state "
          "(docs/user/implicit_state.md)");
    }
    return {};
  }
  const std::string name(key);
  NEREID_RETURN_IF_ERROR(cursor.SkipValue());
  if (!Contains(kWithoutEffect, name)) model->notes.push_back(name + " has no counterpart");
  return {};
}

Status ReadModels(Cursor& cursor, Migration* migration) {
  return ReadObjects(cursor, &migration->models,
                     [](Cursor& at, std::string_view key, MigratedModel& model) {
                       if (key != "config") return at.SkipValue();
                       return ReadMembers(at, [&](Cursor& value, std::string_view member) {
                         return ReadModelMember(value, std::string(member), &model);
                       });
                     });
}

Status ReadPlace(Cursor& cursor, PipelineTensor* place) {
  return ReadMembers(cursor, [&](Cursor& at, std::string_view key) {
    if (key == "node_name") return ReadText(at, key, &place->node);
    if (key == "data_item") return ReadText(at, key, &place->item);
    return at.SkipValue();
  });
}

/// Reads a list of objects with one member each: a name and a tensor of a node.
Status ReadPlaces(Cursor& cursor, std::vector<std::pair<std::string, PipelineTensor>>* places) {
  return ReadObjects(cursor, places, [](Cursor& at, std::string_view key, auto& place) {
    place.first = key;
    return ReadPlace(at, &place.second);
  });
}

Status ReadNodeMember(Cursor& cursor, std::string_view key, PipelineNode* node) {
  if (key == "name") return ReadText(cursor, key, &node->name);
  if (key == "model_name") return ReadText(cursor, key, &node->model);
  if (key == "inputs") return ReadPlaces(cursor, &node->inputs);
  if (key == "version") {
    NEREID_ASSIGN_OR_RETURN(const int64_t version, ReadNumber(cursor, key, 0));
    if (version > 0) node->version = version;
    return {};
  }
  if (key == "outputs") {
    return ReadObjects(cursor, &node->outputs, [](Cursor& at, std::string_view name, auto& output) {
      if (name == "data_item") return ReadText(at, name, &output.second);
      if (name == "alias") return ReadText(at, name, &output.first);
      return at.SkipValue();
    });
  }
  std::string text;
  if (key == "type") {
    NEREID_RETURN_IF_ERROR(ReadScalar(cursor, key, &text));
    if (text != "DL model") node->obstacle = "is a node of the type '" + text + "'";
    return {};
  }
  if (key == "demultiply_count" || key == "gather_from_node") {
    node->obstacle = "uses " + std::string(key);
  }
  return cursor.SkipValue();
}

Status ReadPipelineMember(Cursor& cursor, std::string_view key, MigratedPipeline* pipeline) {
  if (key == "name") return ReadText(cursor, key, &pipeline->name);
  if (key == "inputs") return ReadTexts(cursor, &pipeline->inputs);
  if (key == "outputs") return ReadPlaces(cursor, &pipeline->outputs);
  if (key == "demultiply_count") pipeline->obstacle = "the pipeline uses demultiply_count";
  if (key != "nodes") return cursor.SkipValue();
  return ReadObjects(cursor, &pipeline->nodes,
                     [](Cursor& at, std::string_view member, PipelineNode& node) {
                       return ReadNodeMember(at, std::string(member), &node);
                     });
}

Status ReadGraphs(Cursor& cursor, Migration* migration) {
  std::vector<std::string> names;
  NEREID_RETURN_IF_ERROR(
      ReadObjects(cursor, &names, [](Cursor& at, std::string_view key, std::string& name) {
        return key == "name" ? ReadText(at, key, &name) : at.SkipValue();
      }));
  for (const std::string& name : names) {
    migration->notes.push_back("the MediaPipe graph '" + name +
                               "' is not converted: write its steps as an ensemble or a Python "
                               "model");
  }
  return {};
}

Status ReadMember(Cursor& cursor, std::string_view key, Migration* migration) {
  if (key == "model_config_list") return ReadModels(cursor, migration);
  if (key == "pipeline_config_list") {
    return ReadObjects(cursor, &migration->pipelines,
                       [](Cursor& at, std::string_view member, MigratedPipeline& pipeline) {
                         return ReadPipelineMember(at, std::string(member), &pipeline);
                       });
  }
  if (key == "mediapipe_config_list") return ReadGraphs(cursor, migration);
  const std::string name(key);
  if (name != "monitoring" && name != "custom_node_library_config_list") {
    migration->notes.push_back(name + " has no counterpart");
  }
  return cursor.SkipValue();
}

}  // namespace

base::Result<Migration> ReadOpenVinoModelServer(std::string_view json) {
  Migration migration;
  migration.from = OtherServer::kOpenVinoModelServer;
  NEREID_RETURN_IF_ERROR(ReadRoot(json, [&](Cursor& cursor, std::string_view key) {
    return ReadMember(cursor, key, &migration);
  }));
  for (const MigratedModel& model : migration.models) {
    if (!model.name.empty() && !model.base_path.empty()) continue;
    return Status::InvalidArgument("a config of the model_config_list lacks name or base_path");
  }
  if (migration.models.empty()) {
    return Status::InvalidArgument("the file has no model_config_list with a model");
  }
  return migration;
}

}  // namespace nereid::app::tools
