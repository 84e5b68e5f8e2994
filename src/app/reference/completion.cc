// SPDX-License-Identifier: Apache-2.0
#include "app/reference/completion.h"

#include <string_view>

namespace nereid::app::reference {
namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Returns a text as one word of the shell.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c == '\n' ? ' ' : c;
    }
  }
  return quoted + "'";
}

/// Returns a text as one word of fish, in which a backslash has a meaning between quotes.
std::string QuotedForFish(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + "'";
}

std::string CommandNames(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  names.emplace_back("help");
  return Joined(names);
}

/// Returns the flags of a command as words, with "=" after those that take a value.
std::string FlagWords(const Command& command) {
  std::vector<std::string> words;
  for (const Flag& flag : command.flags) {
    words.push_back("--" + flag.name + (flag.value_form.empty() ? "" : "="));
  }
  return Joined(words);
}

/// Returns an entry of _arguments, which gives meaning to colons and brackets.
std::string ZshArgument(const Flag& flag) {
  const auto escaped = [](std::string_view text) {
    std::string result;
    for (const char c : text) {
      if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
      result += c;
    }
    return result;
  };
  std::string entry =
      "*--" + flag.name + (flag.value_form.empty() ? "" : "=") + "[" + escaped(flag.help) + "]";
  if (!flag.value_form.empty()) {
    entry += ":" + escaped(flag.value_form) + ":";
    if (TakesPath(flag)) {
      entry += "_files";
    } else if (const auto choices = ChoicesOf(flag); !choices.empty()) {
      entry += "(" + Joined(choices) + ")";
    }
  }
  return Quoted(entry);
}

std::string FishFlag(const Flag& flag) {
  std::string text = " -l " + flag.name + " -d " + QuotedForFish(flag.help);
  if (!flag.short_name.empty()) text += " -s " + flag.short_name;
  if (flag.value_form.empty()) return text;
  if (TakesPath(flag)) return text + " -r -F";
  text += " -x";
  if (const auto choices = ChoicesOf(flag); !choices.empty()) {
    text += " -a " + QuotedForFish(Joined(choices));
  }
  return text;
}

constexpr std::string_view kBashHead = R"(# Completion of nereid and tritonserver for bash.
# The values of the flag $2 of the command $1; the word to complete is $3.
_nereid_values() {
  local choices=
  case "$1 $2" in
)";

constexpr std::string_view kBashMiddle = R"(    *) return 1 ;;
  esac
  compopt +o nospace 2>/dev/null
  if [ "$choices" = - ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$3")
  else
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$3")
  fi
}

_nereid() {
  local command=serve flags= cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  # "=" separates words: --flag=value is three of them.
  [ "$cur" != = ] || cur=
  if [ "$prev" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [ "${COMP_WORDS[0]##*/}" != tritonserver ]; then
    if [ "$COMP_CWORD" -eq 1 ]; then
      mapfile -t COMPREPLY < <(compgen -W "$_nereid_commands" -- "$cur")
      return
    fi
    command=${COMP_WORDS[1]}
  fi
  if [[ $prev == --* ]] && _nereid_values "$command" "$prev" "$cur"; then
    return
  fi
  case $command in
)";

constexpr std::string_view kBashEnd = R"(  esac
  if [[ $cur == -* ]]; then
    compopt -o nospace 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$cur")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -F _nereid nereid tritonserver
)";

}  // namespace

std::string BashCompletion(const std::vector<Command>& commands) {
  std::string text(kBashHead);
  for (const Command& command : commands) {
    for (const Flag& flag : command.flags) {
      const auto choices = ChoicesOf(flag);
      if (choices.empty() && !TakesPath(flag)) continue;
      text += "    " + Quoted(command.name + " --" + flag.name) +
              ") choices=" + (choices.empty() ? "-" : Quoted(Joined(choices))) + " ;;\n";
    }
  }
  text += kBashMiddle;
  for (const Command& command : commands) {
    text += "    " + command.name + ") flags=" + Quoted(FlagWords(command)) + " ;;\n";
  }
  text += kBashEnd;
  return text + "_nereid_commands=" + Quoted(CommandNames(commands)) + "\n";
}

std::string ZshCompletion(const std::vector<Command>& commands) {
  std::string text =
      "#compdef nereid tritonserver\n# Completion of nereid and tritonserver for zsh.\n";
  text += "_nereid() {\n  local command=serve\n  local -a commands=(\n";
  for (const Command& command : commands) {
    text += "    " + Quoted(command.name + ":" + command.summary) + "\n";
  }
  text +=
      "    'help:list the commands'\n  )\n"
      "  if [[ ${words[1]:t} != tritonserver ]]; then\n"
      "    if (( CURRENT == 2 )); then\n      _describe command commands\n      return\n    fi\n"
      "    command=${words[2]}\n    shift words\n    (( CURRENT-- ))\n  fi\n  case $command in\n";
  for (const Command& command : commands) {
    text += "    " + command.name + ")\n      _arguments \\\n";
    for (const Flag& flag : command.flags) text += "        " + ZshArgument(flag) + " \\\n";
    text += "        '*:file:_files'\n      ;;\n";
  }
  return text + "  esac\n}\n_nereid \"$@\"\n";
}

std::string FishCompletion(const std::vector<Command>& commands) {
  std::string text = "# Completion of nereid and tritonserver for fish.\n";
  const std::string names = CommandNames(commands);
  const std::string none = "not __fish_seen_subcommand_from " + names;
  for (const Command& command : commands) {
    text += "complete -c nereid -n " + QuotedForFish(none) + " -f -a " + command.name + " -d " +
            QuotedForFish(command.summary) + "\n";
    const std::string condition =
        " -n " + QuotedForFish("__fish_seen_subcommand_from " + command.name);
    for (const Flag& flag : command.flags) {
      text += "complete -c nereid" + condition + FishFlag(flag) + "\n";
      if (command.name == "serve") text += "complete -c tritonserver" + FishFlag(flag) + "\n";
    }
  }
  return text;
}

}  // namespace nereid::app::reference
