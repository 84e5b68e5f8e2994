// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tool.h"

#include "app/options/flag_words.h"

namespace nereid::app::tools {
namespace {

constexpr Tool kTools[] = {
    {"check", "check <directory>... [flags]", "report all problems of models", RunCheck},
    {"explain", "explain <model directory> [flags]",
     "show a configuration and the origin of its values", RunExplain},
    {"init", "init <model file> [flags]", "write a configuration for a model file", RunInit},
    {"migrate", "migrate <configuration> --output <repository> [flags]",
     "make a repository from the configuration of another server", RunMigrate},
    {"doctor", "doctor [<repository>...] [flags]", "look at this machine as a server would meet it",
     RunDoctor},
    {"gpus", "gpus [flags]", "list the GPUs of this machine, and why they are not used", RunGpus},
    {"routes", "routes [flags]", "list what the server serves, and which roles may call it",
     RunRoutes},
    {"infer", "infer <model> --input <name>=<value>... [flags]",
     "send a request to a model and show the response", RunInfer},
    {"bench", "bench <model> [flags]", "measure a model under load", RunBench},
    {"top", "top [flags]", "show what the models of a server do, live", RunTop},
    {"models", "models [<model>...] [flags]", "list the models of a server", RunModels},
    {"load", "load <model> [flags]", "load a model of a server", RunLoad},
    {"unload", "unload <model> [flags]", "unload a model of a server", RunUnload},
    {"status", "status [flags]", "say whether a server is live and ready, and why not", RunStatus},
    {"token", "token create --role <roles> --name <name>", "make a token for a client", RunToken},
};

}  // namespace

std::span<const Tool> AllTools() { return kTools; }

const Tool* FindTool(std::string_view name) {
  for (const Tool& tool : kTools) {
    if (tool.name == name) return &tool;
  }
  return nullptr;
}

std::string ToolError(std::string_view tool, const std::string& text) {
  return OneLine("nereid " + std::string(tool) + ": " + text) + "\n";
}

ToolResult CannotRun(std::string_view tool, const std::string& reason) {
  return {kCannotRun, "",
          ToolError(tool, reason) + "See nereid " + std::string(tool) + " --help.\n"};
}

}  // namespace nereid::app::tools
