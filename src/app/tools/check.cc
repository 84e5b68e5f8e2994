// SPDX-License-Identifier: Apache-2.0
// nereid check: reports all problems of models without loading them.
#include <numeric>

#include "app/options/flag_values.h"
#include "app/options/server_options.h"
#include "app/tools/report_text.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "base/files.h"
#include "repository/check/repository_check.h"

namespace nereid::app::tools {
namespace {

constexpr ToolFlag kFlags[] = {
    {"format", "text|json", "Output format; with --list-rules also markdown (default text)"},
    {"backend-directory", "path",
     "Directory of the backends (default: as for serve; \"\" = do not check that backends exist)"},
    {"repoagent-directory", "path",
     "Directory of the repository agents (default: as for serve; \"\" = do not check that agents "
     "exist)"},
    {"model-config-name", "string", "Use configs/<string>.pbtxt for models that have this file"},
    {"disable-auto-complete-config", "",
     "Require complete configurations, as serve does with this flag"},
    {"strict-model-config", "boolean", "Deprecated form of --disable-auto-complete-config"},
    {"gpu-count", "integer",
     "Number of GPUs of the machine that will serve the models; instance groups that need others "
     "are errors (default: the GPUs of this machine; not checked if it has none)"},
    {"warnings-as-errors", "", "Exit with 1 also for warnings"},
    {"list-rules", "", "Print the rules and exit"},
    {"help", "", "Print this text"},
};

constexpr std::string_view kUsage =
    "Usage: nereid check <directory>... [flags]\n"
    "\n"
    "Checks the models of repositories, or single model directories. Prints every problem that "
    "would\n"
    "prevent a load, and every setting that would be ignored. No model is loaded, and no server "
    "is\n"
    "needed.\n"
    "\n"
    "Exit codes: 0 no errors; 1 errors found; 2 the check could not run.\n"
    "\n";

base::Result<repository::CheckOptions> OptionsFrom(const ToolArguments& arguments,
                                                   const ToolContext& context) {
  repository::CheckOptions options;
  options.config_name = arguments.Get("model-config-name");
  options.backend_directory = arguments.Get("backend-directory", context.backend_directory);
  if (!options.backend_directory.empty() && !base::IsDirectory(options.backend_directory)) {
    return base::Status::NotFound("no such backend directory: " + options.backend_directory);
  }
  options.repoagent_directory = arguments.Get("repoagent-directory", context.repoagent_directory);
  if (!options.repoagent_directory.empty() && !base::IsDirectory(options.repoagent_directory)) {
    return base::Status::NotFound("no such directory of repository agents: " +
                                  options.repoagent_directory);
  }
  options.strict_config = arguments.Has("disable-auto-complete-config");
  if (arguments.Has("strict-model-config")) {
    const auto strict = ParseBool(arguments.Get("strict-model-config"));
    if (!strict.ok()) return strict.status().WithPrefix("--strict-model-config: ");
    options.strict_config = options.strict_config || *strict;
  }
  if (arguments.Has("gpu-count")) {
    const auto count = ParseInteger(arguments.Get("gpu-count"), 0, 1024);
    if (!count.ok()) return count.status().WithPrefix("--gpu-count: ");
    options.gpus.emplace(static_cast<size_t>(*count));
    std::iota(options.gpus->begin(), options.gpus->end(), 0);
  } else if (context.find_gpus) {
    const device::Gpus found = context.find_gpus(DeviceOptions().min_supported_compute_capability);
    if (!found.empty()) options.gpus = found.Ordinals();
  }
  return options;
}

}  // namespace

ToolResult RunCheck(std::span<const std::string> words, const ToolContext& context) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return CannotRun("check", arguments.status().message());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  const bool list = arguments->Has("list-rules");
  const std::string format = arguments->Get("format", "text");
  if (format != "text" && format != "json" && !(list && format == "markdown")) {
    return CannotRun("check", "--format must be text or json" +
                                  std::string(list ? " or markdown" : "") + ", not '" + format +
                                  "'");
  }
  if (list) return {0, RulesText(repository::ListCheckRules(), format), ""};
  if (arguments->words().empty()) {
    return CannotRun("check", "expected a model repository or a model directory");
  }
  const auto options = OptionsFrom(*arguments, context);
  if (!options.ok()) return CannotRun("check", options.status().message());
  const auto report = repository::CheckRepositories(arguments->words(), *options);
  if (!report.ok()) return CannotRun("check", report.status().message());
  const ReportCounts counts = CountFindings(*report);
  const bool bad =
      counts.errors > 0 || (counts.warnings > 0 && arguments->Has("warnings-as-errors"));
  return {bad ? 1 : 0, format == "json" ? ReportJson(*report) : ReportText(*report), ""};
}

}  // namespace nereid::app::tools
