// SPDX-License-Identifier: Apache-2.0
// The sub-commands: tools that do their work without a server, and tools that ask a server over
// HTTP (remote/). Each gets the words after its name and returns its output.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/model_config.h"
#include "device/gpus.h"

namespace nereid::curl {
class HttpClient;
}

namespace nereid::app::tools {

class Terminal;

/// The output of a tool.
struct ToolResult {
  int exit_code = 0;
  std::string out;     // for stdout
  std::string errors;  // for stderr
};

/// The exit code of a tool that could not do its work, for example because of wrong flags or an
/// unreadable directory, or because a server does not answer. Problems that a tool finds have the
/// exit code 1.
inline constexpr int kCannotRun = 2;

/// The services of the program that tools use.
struct ToolContext {
  /// The default directory of the backends; empty if it does not exist.
  std::string backend_directory;
  /// The default directory of the repository agents; empty if it does not exist.
  std::string repoagent_directory;
  /// Loads one model as the server would, and returns its completed configuration. Empty in a
  /// program that cannot load models.
  struct LoadRequest {
    std::string model_directory;
    std::string config_name;
    std::string backend_directory;
    bool strict_config = false;
  };
  std::function<base::Result<config::ModelConfigPtr>(const LoadRequest& request)> load;

  /// Makes a client for HTTP that trusts the authorities in a PEM file; "" for those of the system.
  /// Empty in a program that cannot ask servers.
  std::function<base::Result<std::unique_ptr<curl::HttpClient>>(const std::string& ca_file)>
      make_client;
  /// Returns the GPUs of this machine, divided by the compute capability that they must have. May
  /// be empty.
  std::function<device::Gpus(double min_capability)> find_gpus;
  /// Loads a backend of a directory in a process of its own, and returns why it does not load. May
  /// be empty.
  std::function<base::Status(const std::string& directory, const std::string& name)> probe_backend;
  /// Returns the value of an environment variable, or null. May be empty.
  std::function<const char*(const char* name)> environment;
  /// Writes text to stdout at once, for output that does not wait for the end of the tool. Returns
  /// false if nobody reads it any more. May be empty; then the output is returned at the end.
  std::function<bool(std::string_view text)> print;
  /// Whether stdout is a terminal.
  bool out_is_terminal = false;
  /// The terminal of the program, for tools that renew what they show; null if there is none.
  Terminal* terminal = nullptr;
  /// Shows a line while the tool works. May be empty.
  std::function<void(const std::string& line)> progress;
  /// How many characters a line of the terminal has; 0 if the output is not shown on one.
  size_t terminal_columns = 0;
  /// Waits.
  std::function<void(std::chrono::milliseconds)> pause;
  const base::Clock* clock = &base::SteadyClock();
};

struct Tool {
  std::string_view name;
  std::string_view usage;    // the text after "nereid ", without the flags
  std::string_view summary;  // for the list of commands
  ToolResult (*run)(std::span<const std::string> words, const ToolContext& context);
};

/// Returns all tools in the order in which the program lists them.
std::span<const Tool> AllTools();

/// Returns the tool with this name, or null if there is none.
const Tool* FindTool(std::string_view name);

ToolResult RunBench(std::span<const std::string> words, const ToolContext& context);
ToolResult RunCheck(std::span<const std::string> words, const ToolContext& context);
ToolResult RunDoctor(std::span<const std::string> words, const ToolContext& context);
ToolResult RunExplain(std::span<const std::string> words, const ToolContext& context);
ToolResult RunGpus(std::span<const std::string> words, const ToolContext& context);
ToolResult RunLoad(std::span<const std::string> words, const ToolContext& context);
ToolResult RunMigrate(std::span<const std::string> words, const ToolContext& context);
ToolResult RunModels(std::span<const std::string> words, const ToolContext& context);
ToolResult RunStatus(std::span<const std::string> words, const ToolContext& context);
ToolResult RunUnload(std::span<const std::string> words, const ToolContext& context);
ToolResult RunInfer(std::span<const std::string> words, const ToolContext& context);
ToolResult RunInit(std::span<const std::string> words, const ToolContext& context);
ToolResult RunRoutes(std::span<const std::string> words, const ToolContext& context);
ToolResult RunTop(std::span<const std::string> words, const ToolContext& context);
ToolResult RunToken(std::span<const std::string> words, const ToolContext& context);

/// Returns "nereid <tool>: <text>" as one line with its end.
std::string ToolError(std::string_view tool, const std::string& text);

/// Returns the result of a tool that cannot run: "nereid <tool>: <reason>" and a hint to --help.
ToolResult CannotRun(std::string_view tool, const std::string& reason);

}  // namespace nereid::app::tools
