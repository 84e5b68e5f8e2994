// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/tools/remote/model_rows.h"
#include "app/tools/remote/remote_server.h"
#include "app/tools/remote/terminal_text.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"

namespace nereid::app::tools {
namespace {

constexpr char kUsage[] =
    "Usage: nereid models [<model>...] [flags]\n\n"
    "Lists the models of a server, or those with the given names, with the states of their\n"
    "versions. Works with every server of the v2 protocol. The columns MEMORY and INFERENCES are\n"
    "there if the server has these numbers and answers with them.\n\n"
    "Exit codes: 0 listed; 1 a named model is not in the list; 2 the server could not be "
    "asked.\n\n";

constexpr ToolFlag kFlags[] = {
    kUrlFlag,  {"ready", "", "Only versions that are ready"}, kFormatFlag, kTokenFlag, kCaFlag,
    kHelpFlag,
};

ToolResult Failed(const base::Status& status) { return CannotRun("models", status.message()); }

/// Returns a line for each name that no row has.
std::string Missing(const std::vector<ModelRow>& rows, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const bool found = std::any_of(rows.begin(), rows.end(),
                                   [&](const ModelRow& row) { return row.model.name == name; });
    if (!found) text += "nereid models: the server has no model '" + TerminalText(name) + "'\n";
  }
  return text;
}

}  // namespace

ToolResult RunModels(std::span<const std::string> words, const ToolContext& context) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return Failed(arguments.status());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  const auto json = WantsJson(*arguments);
  if (!json.ok()) return Failed(json.status());
  const auto server = RemoteServer::Open(*arguments, context);
  if (!server.ok()) return Failed(server.status());
  auto rows = ReadModelRows(**server);
  if (!rows.ok()) return Failed(rows.status());
  const std::string missing = Missing(*rows, arguments->words());
  std::vector<ModelRow> selected = RowsOf(std::move(rows).value(), arguments->words());
  if (arguments->Has("ready")) {
    std::erase_if(selected, [](const ModelRow& row) { return row.model.state != "READY"; });
  }
  return {missing.empty() ? 0 : 1,
          *json ? ModelRowsJson(selected) : ModelRowsText(selected, context.terminal_columns),
          missing};
}

}  // namespace nereid::app::tools
