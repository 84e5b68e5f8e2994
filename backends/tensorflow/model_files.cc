// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/model_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "framework/printable.h"
#include "nereid/backend/json.h"
#include "nereid/backend/log.h"
#include "tensorflow/wire.h"

namespace nereid::tensorflow {
namespace {

namespace fs = std::filesystem;
using backend::ModelConfig;

/// The largest protobuf message: protobuf's limit is 2 GiB.
constexpr std::streamoff kMaxBytes = (std::streamoff{1} << 31) - 1;

std::string Owner(const ModelConfig& config) { return "model '" + config.name + "': "; }

Error NotFound(const std::string& text) { return Error(TRITONSERVER_ERROR_NOT_FOUND, text); }

bool IsFile(const fs::path& path) {
  std::error_code failure;
  return fs::is_regular_file(path, failure);
}

std::string TagText(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) {
    text += (text.empty() ? "" : ",") + framework::Printable(tag, 200);
  }
  return "'" + text + "'";
}

std::vector<std::string> TagsOf(std::string_view meta_graph) {
  std::vector<std::string> tags;
  for (WireReader graph(meta_graph); graph.Next();) {
    if (graph.field() == 1) {
      for (WireReader info(graph.text()); info.Next();) {
        if (info.field() == 4) {
          tags.emplace_back(info.text());
        }
      }
    }
  }
  std::sort(tags.begin(), tags.end());
  return tags;
}

/// Returns whether a serialized GraphDef (node = 1; NodeDef.op = 2) contains variables.
bool HasVariables(std::string_view graph_def) {
  for (WireReader graph(graph_def); graph.Next();) {
    if (graph.field() != 1) {
      continue;
    }
    for (WireReader node(graph.text()); node.Next();) {
      if (node.field() == 2 && (node.text() == "VarHandleOp" || node.text() == "VariableV2")) {
        return true;
      }
    }
  }
  return false;
}

/// Returns whether a meta graph (graph_def = 2, saver_def = 3; SaverDef.restore_op_name = 3)
/// restores variables when it is loaded.
bool Restores(std::string_view meta_graph) {
  bool variables = false;
  bool restores = false;
  for (WireReader graph(meta_graph); graph.Next();) {
    if (graph.field() == 2) {
      variables = HasVariables(graph.text());
    } else if (graph.field() == 3) {
      for (WireReader saver(graph.text()); saver.Next();) {
        restores = restores || (saver.field() == 3 && !saver.text().empty());
      }
    }
  }
  return variables && restores;
}

}  // namespace

Error ReadMessageFile(const ModelConfig& config, const std::string& path, const std::string& what,
                      std::string* bytes) {
  if (!IsFile(path)) {
    return NotFound(Owner(config) + "there is no file " + path);
  }
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? std::streamoff{file.tellg()} : -1;
  if (size < 0) {
    return NotFound(Owner(config) + "cannot read the file " + path);
  }
  if (size == 0 || size > kMaxBytes) {
    return Error::InvalidArgument(Owner(config) + path + " has " + std::to_string(size) +
                                  " bytes, which is no " + what);
  }
  file.seekg(0);
  bytes->resize(static_cast<size_t>(size));
  if (!file.read(bytes->data(), size)) {
    return NotFound(Owner(config) + "cannot read the file " + path);
  }
  return {};
}

std::vector<std::vector<std::string>> ReadTags(std::string_view saved_model) {
  std::vector<std::vector<std::string>> all;
  for (WireReader reader(saved_model); reader.Next();) {
    if (reader.field() == 2) {
      all.push_back(TagsOf(reader.text()));
    }
  }
  return all;
}

std::vector<std::string> WantedTags(const ModelConfig& config) {
  const std::string* given = config.parameters.Find("TF_GRAPH_TAG");
  const std::string text = given == nullptr || given->empty() ? "serve" : *given;
  std::vector<std::string> tags;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) {
      tags.push_back(text.substr(at, comma - at));
    }
    at = comma + 1;
  }
  std::sort(tags.begin(), tags.end());
  return tags;
}

Error OpenSavedModel(const ModelConfig& config, const std::string& path,
                     const std::vector<std::string>& tags, std::string* bytes,
                     std::string_view* meta_graph) {
  *meta_graph = {};
  std::error_code failure;
  if (!fs::is_directory(path, failure)) {
    return NotFound(Owner(config) + path +
                    " is not a directory; a SavedModel is one, with saved_model.pb in it");
  }
  const fs::path file = fs::path(path) / "saved_model.pb";
  if (!IsFile(file)) {
    return IsFile(fs::path(path) / "saved_model.pbtxt")
               ? Error()
               : NotFound(Owner(config) + path + " holds no saved_model.pb");
  }
  NEREID_BACKEND_TRY(ReadMessageFile(config, file.string(), "SavedModel", bytes));
  std::string known;
  for (WireReader reader(*bytes); reader.Next();) {
    if (reader.field() != 2) {
      continue;
    }
    const std::vector<std::string> found = TagsOf(reader.text());
    if (found != tags) {
      known += (known.empty() ? "" : ", ") + TagText(found);
      continue;
    }
    if (Restores(reader.text()) && !IsFile(fs::path(path) / "variables" / "variables.index")) {
      NEREID_BACKEND_LOG(WARN, Owner(config) + "the graph has variables, but " + path +
                                   " holds no variables/variables.index; what needs them fails");
    }
    *meta_graph = reader.text();
    return {};
  }
  if (known.empty()) {
    return Error::InvalidArgument(Owner(config) + file.string() +
                                  " is no SavedModel: it holds no "
                                  "graph");
  }
  return NotFound(Owner(config) + file.string() + " has no graph with the tags " + TagText(tags) +
                  " (parameter TF_GRAPH_TAG); its graphs have: " + known);
}

std::string_view GraphDefOf(std::string_view meta_graph) {
  std::string_view graph_def;
  for (WireReader graph(meta_graph); graph.Next();) {
    graph_def = graph.field() == 2 ? graph.text() : graph_def;
  }
  return graph_def;
}

Error ReadInitOps(const ModelConfig& config, std::vector<std::string>* operations) {
  const std::string* given = config.parameters.Find("TF_INIT_OPS_FILE");
  if (given == nullptr || given->empty()) {
    return {};
  }
  const fs::path name = *given;
  if (name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end()) {
    return Error::InvalidArgument(Owner(config) + "TF_INIT_OPS_FILE '" + *given +
                                  "' leads out of the model's folder");
  }
  const fs::path model = config.directory;
  fs::path path = model / std::to_string(config.version) / *given;
  if (!IsFile(path)) {
    path = model / *given;
  }
  std::string text;
  NEREID_BACKEND_TRY(ReadMessageFile(config, path.string(), "JSON file", &text));
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  const rapidjson::Value* list =
      document.HasParseError() ? nullptr : backend::Member(&document, "init_ops");
  if (list == nullptr || !list->IsArray()) {
    return Error::InvalidArgument(Owner(config) + path.string() +
                                  " (parameter TF_INIT_OPS_FILE) must be a JSON object with the "
                                  "list \"init_ops\" of names");
  }
  for (const rapidjson::Value& entry : list->GetArray()) {
    operations->push_back(backend::TextOf(&entry));
  }
  return {};
}

}  // namespace nereid::tensorflow
