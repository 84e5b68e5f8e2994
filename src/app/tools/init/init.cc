// SPDX-License-Identifier: Apache-2.0
// nereid init: writes a first configuration for a model file.
#include <climits>
#include <fstream>

#include "app/options/flag_values.h"
#include "app/options/flag_words.h"
#include "app/tools/init/config_draft.h"
#include "app/tools/init/model_draft.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "base/files.h"

namespace nereid::app::tools {
namespace {

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
    "Writes a minimal config.pbtxt for a model. ONNX files, TensorFlow saved models and "
    "OpenVINO's\n"
    "IR declare their inputs and outputs, TorchScript files their names; for other files the\n"
    "configuration contains examples to replace. Put the model file into <repository>/<model>/1/ "
    "and\n"
    "the configuration into <repository>/<model>/.\n"
    "\n"
    "Exit codes: 0 success; 1 the model cannot be used; 2 the command could not run.\n"
    "\n";

// The default for models that support batches. The server uses the same default when it completes a
// configuration.
constexpr int32_t kDefaultMaxBatchSize = 4;

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
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
  const auto draft = DraftOfModel(path, arguments->Get("backend"));
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
