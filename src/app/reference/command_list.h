// SPDX-License-Identifier: Apache-2.0
// The commands of the program with their flags, for the generators of man pages and shell
// completion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nereid::app::reference {

struct Flag {
  std::string name;        // without the two hyphens
  std::string short_name;  // one letter, or ""
  std::string value_form;  // "integer", "text|json", …; "" if the flag takes no value
  std::string help;
  std::string group;  // the heading above the flag; "" for the flags of a tool
};

struct Command {
  std::string name;                      // "serve", "check", …
  std::string usage;                     // "nereid check <directory>... [flags]"
  std::string summary;                   // a few words, without a period
  std::vector<std::string> description;  // paragraphs, each one line
  std::vector<Flag> flags;
};

/// Returns "serve" and all tools, in the order of `nereid help`.
std::vector<Command> AllCommands();

/// Reads the usage text of a tool, that is, what its --help prints. A part that has another form
/// than those of ToolFlag is left out.
Command CommandFromHelp(std::string_view name, std::string_view summary, std::string_view help);

/// Returns the values that a flag may have, if its form lists them: "text|json" has two, and
/// "boolean" has true and false. Empty for other forms.
std::vector<std::string> ChoicesOf(const Flag& flag);

/// Returns whether the value of a flag is a file or a directory.
bool TakesPath(const Flag& flag);

}  // namespace nereid::app::reference
