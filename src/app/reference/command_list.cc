// SPDX-License-Identifier: Apache-2.0
#include "app/reference/command_list.h"

#include <algorithm>
#include <optional>

#include "app/options/flag_table.h"
#include "app/tools/tool.h"

namespace nereid::app::reference {
namespace {

Command ServeCommand() {
  Command serve{
      .name = "serve",
      .usage = "nereid serve --model-repository=<path> [flags]",
      .summary = "serve models over HTTP and gRPC",
      .description =
          {"Serves the models of one or more repositories until SIGINT or SIGTERM, with the "
           "protocols of KServe v2 and the flags of Triton Inference Server.",
           "A value is written as --flag=value or as --flag value. A flag may be "
           "abbreviated as long as it is unambiguous, unless only Nereid has it. Under "
           "the name tritonserver the program takes these flags directly.",
           "Exit codes: 0 stopped in order; 1 an invalid command line, a failed start, or "
           "an expired exit timeout."},
      .flags = {}};
  for (const FlagSpec& flag : AllFlags()) {
    serve.flags.push_back({std::string(flag.name), "", std::string(flag.value_form),
                           std::string(flag.help), std::string(flag.group)});
  }
  return serve;
}

/// Reads a line of the form "  -o, --output <path>". Returns nothing for other lines.
std::optional<Flag> FlagFromLine(std::string_view line) {
  Flag flag;
  if (!line.starts_with("  -")) return std::nullopt;
  line.remove_prefix(2);
  if (line.size() > 4 && line.substr(2, 2) == ", ") {
    flag.short_name = line.substr(1, 1);
    line.remove_prefix(4);
  }
  if (!line.starts_with("--")) return std::nullopt;
  line.remove_prefix(2);
  const size_t space = line.find(' ');
  flag.name = line.substr(0, space);
  if (space != std::string_view::npos && line.substr(space + 1).starts_with('<') &&
      line.ends_with('>')) {
    flag.value_form = line.substr(space + 2, line.size() - space - 3);
  }
  return flag;
}

void AppendLine(std::string& text, std::string_view line) {
  const size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos) return;
  if (!text.empty()) text += ' ';
  text += line.substr(begin);
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

Command CommandFromHelp(std::string_view name, std::string_view summary, std::string_view help) {
  constexpr std::string_view kUsage = "Usage: ";
  Command command{std::string(name), "", std::string(summary), {}, {}};
  bool in_flags = false;
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) command.description.push_back(std::move(paragraph));
    paragraph.clear();
  };
  for (const std::string_view line : LinesOf(help)) {
    if (in_flags) {
      if (auto flag = FlagFromLine(line)) {
        command.flags.push_back(*std::move(flag));
      } else if (!command.flags.empty()) {
        AppendLine(command.flags.back().help, line);
      }
    } else if (line == "Flags:") {
      in_flags = true;
    } else if (line.starts_with(kUsage)) {
      command.usage = line.substr(kUsage.size());
    } else if (line.empty()) {
      end_paragraph();
    } else {
      AppendLine(paragraph, line);
    }
  }
  end_paragraph();
  return command;
}

std::vector<Command> AllCommands() {
  std::vector<Command> commands = {ServeCommand()};
  const std::vector<std::string> words = {"--help"};
  for (const tools::Tool& tool : tools::AllTools()) {
    commands.push_back(CommandFromHelp(tool.name, tool.summary, tool.run(words, {}).out));
  }
  return commands;
}

std::vector<std::string> ChoicesOf(const Flag& flag) {
  std::vector<std::string> choices;
  std::string_view rest = flag.value_form;
  if (rest != "boolean" && rest.find('|') == std::string_view::npos) return choices;
  while (true) {
    const size_t end = std::min(rest.find('|'), rest.size());
    const std::string_view choice = rest.substr(0, end);
    const bool is_word = !choice.empty() && std::all_of(choice.begin(), choice.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '-';
    });
    if (!is_word) return {};
    if (choice == "boolean") {
      choices.insert(choices.end(), {"true", "false"});
    } else {
      choices.emplace_back(choice);
    }
    if (end == rest.size()) return choices;
    rest.remove_prefix(end + 1);
  }
}

bool TakesPath(const Flag& flag) { return flag.value_form == "path"; }

}  // namespace nereid::app::reference
