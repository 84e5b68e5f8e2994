// SPDX-License-Identifier: Apache-2.0
// nereid migrate: makes a repository from the configuration of another server.
#include <algorithm>
#include <filesystem>
#include <set>

#include "app/tools/migrate/repository_writer.h"
#include "app/tools/remote/terminal_text.h"
#include "app/tools/tensors/input_argument.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "base/files.h"
#include "config/text/parser.h"

namespace nereid::app::tools {

using base::Status;

Status CheckNames(const Migration& migration) {
  std::set<std::string> names;
  const auto check = [&](const std::string& name) -> Status {
    if (!base::IsPlainName(name) || name.starts_with('.') || name.find('\0') != name.npos) {
      return Status::InvalidArgument("'" + name +
                                     "' cannot be the name of a model: it has no "
                                     "characters, a slash, or a dot in front");
    }
    if (names.insert(name).second) return {};
    return Status::InvalidArgument("two models are called '" + name + "'");
  };
  for (const MigratedModel& model : migration.models) {
    NEREID_RETURN_IF_ERROR(check(model.name));
  }
  for (const MigratedPipeline& pipeline : migration.pipelines) {
    NEREID_RETURN_IF_ERROR(check(pipeline.name));
  }
  return {};
}

namespace {

constexpr ToolFlag kFlags[] = {
    {"output,o", "path", "Folder of the repository; must not exist, or be empty"},
    {"from", "tensorflow-serving|openvino-model-server",
     "The server whose configuration this is (default: JSON is OpenVINO Model Server's)"},
    {"batching", "path", "TensorFlow Serving's --batching_parameters_file"},
    {"path", "old=new",
     "The beginning of base paths in the other server's container, and where it is here; may be "
     "given\n        again"},
    {"copy", "", "Copy the model files (default: links to them)"},
    {"help", "", "Print this text"},
};

constexpr char kUsage[] =
    "Usage: nereid migrate <configuration> --output <repository> [flags]\n"
    "\n"
    "Makes a model repository from a models.config of TensorFlow Serving or a config.json of "
    "OpenVINO\n"
    "Model Server. The model files stay where they are: the repository has links to them, a\n"
    "config.pbtxt for each model, and an ensemble for each pipeline. What cannot be converted is\n"
    "listed.\n"
    "\n"
    "  nereid migrate models.config -o repository --path /models=/srv/models\n"
    "\n"
    "Exit codes: 0 everything was converted; 1 something was not, the output says what; 2 the "
    "command\n"
    "could not run.\n"
    "\n";

bool IsJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{';
}

base::Result<Migration> ReadMigration(const std::string& path, const ToolArguments& arguments) {
  NEREID_ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path, config::kMaxTextBytes));
  const std::string from = arguments.Get("from");
  if (!from.empty() && from != "tensorflow-serving" && from != "openvino-model-server") {
    return Status::InvalidArgument(
        "--from must be tensorflow-serving or openvino-model-server. Got " + from);
  }
  std::string batching;
  if (arguments.Has("batching")) {
    NEREID_ASSIGN_OR_RETURN(batching,
                            base::ReadFile(arguments.Get("batching"), config::kMaxTextBytes));
  }
  const bool json = from.empty() ? IsJson(text) : from == "openvino-model-server";
  if (json && arguments.Has("batching")) {
    return Status::InvalidArgument("--batching is for TensorFlow Serving");
  }
  auto migration = json ? ReadOpenVinoModelServer(text) : ReadTensorFlowServing(text, batching);
  if (!migration.ok()) return migration.status().WithPrefix(path + ": ");
  NEREID_RETURN_IF_ERROR(CheckNames(*migration).WithPrefix(path + ": "));
  return migration;
}

base::Result<RepositoryWish> ReadWish(const std::string& path, const ToolArguments& arguments) {
  RepositoryWish wish;
  wish.folder = arguments.Get("output");
  if (wish.folder.empty()) return Status::InvalidArgument("--output names the new repository");
  wish.copies = arguments.Has("copy");
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  wish.base = folder.empty() ? "." : folder.string();
  for (const std::string& text : arguments.All("path")) {
    NEREID_ASSIGN_OR_RETURN(auto place, SplitAssignment("path", text));
    for (std::string* const part : {&place.first, &place.second}) {
      while (part->size() > 1 && part->back() == '/') part->pop_back();
    }
    wish.places.push_back(std::move(place));
  }
  return wish;
}

void AppendLine(const char* kind, const std::string& line, std::string* text) {
  text->append("  ").append(kind).append(": ").append(TerminalText(line)).append("\n");
}

std::string Text(const std::vector<MigratedRow>& rows, const std::vector<std::string>& notes) {
  std::string text;
  size_t converted = 0;
  for (const MigratedRow& row : rows) {
    text += TerminalText(row.name, 200) + ": " + (row.is_converted ? "" : "not converted: ") +
            TerminalText(row.what) + "\n";
    for (const std::string& note : row.notes) AppendLine("note", note, &text);
    for (const std::string& hint : row.hints) AppendLine("next", hint, &text);
    converted += row.is_converted ? 1 : 0;
  }
  for (const std::string& note : notes) AppendLine("note", note, &text);
  return text + std::to_string(converted) + " of " + std::to_string(rows.size()) +
         " models and pipelines converted\n";
}

}  // namespace

ToolResult RunMigrate(std::span<const std::string> words, const ToolContext& /*context*/) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return CannotRun("migrate", arguments.status().message());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  if (arguments->words().size() != 1) return CannotRun("migrate", "expected one configuration");
  const std::string& path = arguments->words().front();
  const auto wish = ReadWish(path, *arguments);
  if (!wish.ok()) return CannotRun("migrate", wish.status().message());
  auto migration = ReadMigration(path, *arguments);
  if (!migration.ok()) return CannotRun("migrate", migration.status().message());
  const std::vector<std::string> notes = migration->notes;
  const auto rows = WriteRepository(std::move(migration).value(), *wish);
  if (!rows.ok()) return CannotRun("migrate", rows.status().message());
  const bool complete =
      notes.empty() && std::all_of(rows->begin(), rows->end(), [](const MigratedRow& row) {
        return row.is_converted && row.notes.empty();
      });
  return {complete ? 0 : 1, Text(*rows, notes), ""};
}

}  // namespace nereid::app::tools
