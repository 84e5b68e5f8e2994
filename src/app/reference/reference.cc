// SPDX-License-Identifier: Apache-2.0
#include "app/reference/reference.h"

#include "app/options/flag_words.h"
#include "app/reference/command_list.h"
#include "app/reference/completion.h"
#include "app/reference/man_page.h"

namespace nereid::app::reference {
namespace {

using base::Status;
using Text = base::Result<std::optional<std::string>>;

Text ManPage(std::span<const std::string> words) {
  const std::vector<Command> commands = AllCommands();
  if (words.empty()) return std::optional(OverviewManPage(commands, NEREID_VERSION));
  for (const Command& command : commands) {
    if (command.name == words[0]) return std::optional(ManPageOf(command, NEREID_VERSION));
  }
  return Status::InvalidArgument(OneLine("help man: there is no command '" + words[0] + "'"));
}

Text Completion(std::span<const std::string> words) {
  const std::string shell = words.empty() ? "" : words[0];
  if (shell == "bash") return std::optional(BashCompletion(AllCommands()));
  if (shell == "zsh") return std::optional(ZshCompletion(AllCommands()));
  if (shell == "fish") return std::optional(FishCompletion(AllCommands()));
  return Status::InvalidArgument(
      OneLine("help completion: '" + shell + "' is not one of bash, zsh and fish"));
}

}  // namespace

Text ReferenceText(std::span<const std::string> words) {
  if (!words.empty() && words[0] == "man") return ManPage(words.subspan(1));
  if (!words.empty() && words[0] == "completion") return Completion(words.subspan(1));
  return std::optional<std::string>();
}

}  // namespace nereid::app::reference
