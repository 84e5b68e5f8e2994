// SPDX-License-Identifier: Apache-2.0
#include "app/options/command_line.h"

#include <algorithm>
#include <span>

#include "app/options/flag_table.h"
#include "app/options/flag_words.h"

namespace nereid::app {
namespace {

using base::Status;

std::string Overview(const CommandLineContext& context) {
  const auto line = [](std::string usage, const std::string& summary) {
    constexpr size_t kWidth = 47;
    usage.resize(std::max(usage.size() + 1, kWidth), ' ');
    return "  nereid " + usage + summary + "\n";
  };
  std::string text = "Nereid, an inference server.\n\n";
  text += line("serve --model-repository=<path> [flags]", "serve the models in <path>");
  text += line("help serve", "list the flags");
  for (const auto& command : context.commands) text += line(command.usage, command.summary);
  text += line("--version", "print the version");
  if (!context.commands.empty()) text += "\nEach command has --help.";
  return text + "\nUnder the name tritonserver the program takes the flags directly.\n";
}

std::string CommandNames(const CommandLineContext& context) {
  std::string names = "serve";
  for (const auto& command : context.commands) names += ", " + command.name;
  return names + ", help and --version";
}

ParsedCommandLine Print(std::string text, bool on_stderr, int exit_code) {
  ParsedCommandLine parsed;
  parsed.action = ParsedCommandLine::Action::kPrint;
  parsed.text = std::move(text);
  parsed.text_on_stderr = on_stderr;
  parsed.exit_code = exit_code;
  return parsed;
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

base::Result<ParsedCommandLine> ParseFlags(std::string_view program,
                                           std::span<const std::string> arguments,
                                           const CommandLineContext& context) {
  FlagState state;
  FlagWords words(arguments);
  while (true) {
    NEREID_ASSIGN_OR_RETURN(const std::optional<FlagWord> word, words.Next());
    if (!word) break;
    if (word->flag->name == kHelpFlag) return Print(UsageText(program), true, kUsageExitCode);
    state.given.emplace(word->flag->name);
    state.setting.clear();
    const Status read = word->flag->read(state, word->value);
    if (!read.ok()) {
      const std::string setting = state.setting.empty() ? "" : " " + state.setting;
      return Status::InvalidArgument(
          BadOption(std::string(word->flag->name) + setting, read.message()));
    }
  }
  if (!words.others().empty()) {
    return Status::InvalidArgument(
        OneLine("Unexpected argument: " + std::string(words.others().front())));
  }
  const Status finished = FinishOptions(context, state);
  if (!finished.ok()) return Status::InvalidArgument(OneLine(finished.message()));
  ParsedCommandLine parsed;
  parsed.options = std::move(state.options);
  parsed.warnings = std::move(state.warnings);
  return parsed;
}

}  // namespace

std::string UsageText(std::string_view program) {
  std::string text = "Usage: " + std::string(program) + " [options]\n";
  std::string_view group;
  for (const FlagSpec& flag : AllFlags()) {
    if (flag.group != group) text.append("\n").append(flag.group).append(":\n");
    group = flag.group;
    text.append("  --").append(flag.name);
    if (!flag.value_form.empty()) text.append(" <").append(flag.value_form).append(">");
    text.append("\n\t").append(flag.help).append("\n");
  }
  return text;
}

base::Result<ParsedCommandLine> ParseCommandLine(const std::vector<std::string>& arguments,
                                                 const CommandLineContext& context) {
  const std::span<const std::string> all(arguments);
  const std::string program = all.empty() ? "nereid" : BaseName(all[0]);
  if (program == "tritonserver") return ParseFlags(program, all.subspan(1), context);
  const std::string command = all.size() > 1 ? all[1] : "";
  if (command == "serve") return ParseFlags("nereid serve", all.subspan(2), context);
  if (command == "--version" || command == "version") {
    return Print("nereid " NEREID_VERSION "\n", false, 0);
  }
  if (command == "help" || command == "--help") {
    const bool flags = all.size() > 2 && all[2] == "serve";
    return Print(flags ? UsageText("nereid serve") : Overview(context), false, 0);
  }
  if (command.empty()) {
    return Status::InvalidArgument(
        "A command is missing, for example: nereid serve --model-repository=/models");
  }
  return Status::InvalidArgument(
      OneLine("Unknown command: " + command +
              (command.starts_with("--") ? ". Flags follow a command: nereid serve " + command
                                         : ". The commands are " + CommandNames(context))));
}

}  // namespace nereid::app
