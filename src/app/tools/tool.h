// SPDX-License-Identifier: Apache-2.0
// The sub-commands that work on files, without a server: each takes the words behind its name and
// prints to two texts.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/model_config.h"

namespace nereid::app::tools {

/// What a tool has to say.
struct ToolResult {
  int exit_code = 0;
  std::string out;     // for stdout
  std::string errors;  // for stderr
};

/// A tool could not do its work, other than finding problems: wrong flags, unreadable directories.
inline constexpr int kCannotRun = 2;

/// What a tool needs to know of the program.
struct ToolContext {
  /// Where backends are if no flag says so; empty if there is no such directory.
  std::string backend_directory;
  /// Loads one model as the server would, and tells the configuration that it then has. Empty in a
  /// program that cannot load models.
  struct LoadRequest {
    std::string model_directory;
    std::string config_name;
    std::string backend_directory;
    bool strict_config = false;
  };
  std::function<base::Result<config::ModelConfigPtr>(const LoadRequest& request)> load;
};

struct Tool {
  std::string_view name;
  std::string_view usage;    // what follows "nereid ", without the flags
  std::string_view summary;  // for the list of commands
  ToolResult (*run)(std::span<const std::string> words, const ToolContext& context);
};

/// All tools, in the order in which the program lists them.
std::span<const Tool> AllTools();

/// The tool of that name; null if there is none.
const Tool* FindTool(std::string_view name);

ToolResult RunCheck(std::span<const std::string> words, const ToolContext& context);
ToolResult RunExplain(std::span<const std::string> words, const ToolContext& context);
ToolResult RunInit(std::span<const std::string> words, const ToolContext& context);

/// The result of a tool that cannot run: "nereid <tool>: <reason>" and the way to its help.
ToolResult CannotRun(std::string_view tool, const std::string& reason);

}  // namespace nereid::app::tools
