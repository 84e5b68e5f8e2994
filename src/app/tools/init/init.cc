// SPDX-License-Identifier: Apache-2.0
// nereid init: writes a first configuration for a model file.
#include <array>
#include <climits>
#include <filesystem>
#include <fstream>

#include "app/options/flag_values.h"
#include "app/options/flag_words.h"
#include "app/tools/init/config_draft.h"
#include "app/tools/init/mapped_file.h"
#include "app/tools/init/model_files.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "base/files.h"
#include "config/known_backends.h"

namespace nereid::app::tools {
namespace {

namespace fs = std::filesystem;
using base::Status;

constexpr ToolFlag kFlags[] = {
    {"backend", "name", "Backend that runs the model (default: determined by the file name)"},
    {"max-batch-size", "integer",
     "Maximum batch size; 0 = no batches (default: 4 if the model supports batches, else 0)"},
    {"output,o", "path", "Output file instead of the standard output; must not exist"},
    {"force", "", "Overwrite the output file"},
    {"help", "", "Print this text"},
};

constexpr std::string_view kUsage =
    "Usage: nereid init <model file> [flags]\n"
    "\n"
    "Writes a minimal config.pbtxt for a model. ONNX files and TensorFlow saved models declare "
    "their\n"
    "inputs and outputs; for other files the configuration contains examples to replace. Put the\n"
    "model file into <repository>/<model>/1/ and the configuration into <repository>/<model>/.\n"
    "\n"
    "Exit codes: 0 success; 1 the model cannot be used; 2 the command could not run.\n"
    "\n";

// The default for models that support batches. The server uses the same default when it completes a
// configuration.
constexpr int32_t kDefaultMaxBatchSize = 4;

struct Format {
  std::string_view ending;
  std::string_view backend;
  std::string_view platform;  // empty unless the backend has several
  // A comment about the example tensors; empty if the file declares its tensors.
  std::string_view hint;
};

constexpr std::array<Format, 9> kFormats = {{
    {".onnx", "onnxruntime", "", ""},
    {".savedmodel", "tensorflow", "tensorflow_savedmodel", ""},
    {".graphdef", "tensorflow", "tensorflow_graphdef",
     "The names are those of the graph's placeholders and output nodes."},
    {".pt", "pytorch", "",
     "TorchScript files contain no names: the number after __ is the position of the tensor."},
    {".pt2", "pytorch", "torch_aoti", "The number after __ is the position of the tensor."},
    {".plan", "tensorrt", "", "The backend can complete the configuration of a plan."},
    {".xml", "openvino", "", "The names are those of the model's inputs and results."},
    {".py", "python", "", "The names are those that model.py reads and writes."},
    {".netdef", "caffe2", "caffe2_netdef", "The names are those of the net's blobs."},
}};

const Format* FormatOf(const std::string& path) {
  for (const Format& format : kFormats) {
    if (path.ends_with(format.ending)) return &format;
  }
  return nullptr;
}

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// Adds example tensors, which the user replaces.
void AddSkeleton(const Format* format, ConfigDraft* draft) {
  const bool numbered = draft->backend == "pytorch";
  draft->is_skeleton = true;
  draft->notes.push_back(
      "Replace the names, data types and dims of the example inputs and outputs.");
  if (format != nullptr && !format->hint.empty()) draft->notes.emplace_back(format->hint);
  for (auto* list : {&draft->inputs, &draft->outputs}) {
    DraftTensor tensor;
    tensor.name = list == &draft->inputs ? "INPUT" : "OUTPUT";
    tensor.name += numbered ? "__0" : "0";
    tensor.has_dims = false;
    list->push_back(std::move(tensor));
  }
}

base::Result<ConfigDraft> Draft(const std::string& path, const std::string& backend) {
  const Format* format = FormatOf(path);
  if (format == nullptr && base::PathExists(base::JoinPath(path, "saved_model.pb"))) {
    format = &kFormats[1];
  }
  if (format == nullptr && backend.empty()) {
    return Status::InvalidArgument("the file name '" + fs::path(path).filename().string() +
                                   "' does not determine the backend; set it with --backend");
  }
  ConfigDraft draft;
  const bool own = format != nullptr && (backend.empty() || backend == format->backend);
  draft.backend = own ? std::string(format->backend) : backend;
  if (own) draft.platform = format->platform;
  const std::string name = fs::path(path).filename().string();
  draft.notes.push_back("Made by nereid init from " + name + ".");
  if (name !=
      config::DefaultFilename(draft.backend, draft.platform.empty()
                                                 ? config::PlatformOfBackend(draft.backend, "")
                                                 : std::string_view(draft.platform))) {
    draft.default_model_filename = name;
  }
  Status (*read)(std::string_view, ConfigDraft*) = nullptr;
  std::string file = path;
  if (format == &kFormats[0]) read = ReadOnnx;
  if (format == &kFormats[1]) read = ReadSavedModel;
  if (base::IsDirectory(file)) {
    file = base::JoinPath(file, format == &kFormats[0] ? "model.onnx" : "saved_model.pb");
  }
  if (read == nullptr) {
    AddSkeleton(own ? format : nullptr, &draft);
    return draft;
  }
  NEREID_ASSIGN_OR_RETURN(const auto mapped, MappedFile::Open(file));
  NEREID_RETURN_IF_ERROR(read(mapped->bytes(), &draft).WithPrefix(path + ": "));
  return draft;
}

base::Result<int32_t> MaxBatchSize(const ConfigDraft& draft, const ToolArguments& arguments) {
  if (!arguments.Has("max-batch-size")) {
    return !draft.is_skeleton && CanBatch(draft) ? kDefaultMaxBatchSize : 0;
  }
  NEREID_ASSIGN_OR_RETURN(const int64_t size,
                          ParseInteger(arguments.Get("max-batch-size"), 0, INT32_MAX));
  if (size > 0 && !draft.is_skeleton && !CanBatch(draft)) {
    return Status::Unsupported(
        "the model does not support batches: not every input and output has a variable first "
        "dimension");
  }
  return static_cast<int32_t>(size);
}

Status WriteFile(const std::string& path, const std::string& text, bool force) {
  if (!force && base::PathExists(path)) {
    return Status::AlreadyExists(path + " exists; --force overwrites it");
  }
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.flush();
  if (!out) return Status::Internal("failed to write " + path);
  return Status::Ok();
}

}  // namespace

ToolResult RunInit(std::span<const std::string> words, const ToolContext& /*context*/) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return CannotRun("init", arguments.status().message());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  if (arguments->words().size() != 1) return CannotRun("init", "expected one model file");
  const std::string path = WithoutSlash(arguments->words().front());
  if (!base::PathExists(path)) return CannotRun("init", "no such file: " + path);
  const auto draft = Draft(path, arguments->Get("backend"));
  const auto failed = [](const Status& status) {
    return ToolResult{1, "", OneLine("nereid init: " + status.message()) + "\n"};
  };
  if (!draft.ok()) return failed(draft.status());
  const auto max_batch_size = MaxBatchSize(*draft, *arguments);
  if (!max_batch_size.ok()) {
    if (max_batch_size.status().code() == base::StatusCode::kUnsupported) {
      return failed(max_batch_size.status());
    }
    return CannotRun("init", "--max-batch-size: " + max_batch_size.status().message());
  }
  const std::string text = WriteConfig(*draft, *max_batch_size);
  if (!arguments->Has("output")) return {0, text, ""};
  const Status written = WriteFile(arguments->Get("output"), text, arguments->Has("force"));
  if (!written.ok()) return CannotRun("init", written.message());
  return {0, "", ""};
}

}  // namespace nereid::app::tools
