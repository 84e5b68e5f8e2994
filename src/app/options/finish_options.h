// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/options/flag_state.h"
#include "base/status.h"

namespace nereid::app {

/// What a command line means beside its words.
struct CommandLineContext {
  std::string executable;  // the program's path, for the default plug-in directories
  std::function<const char*(const char* name)> environment;  // like getenv; empty = no variables
  /// The commands beside serve and help, for the texts that list them.
  struct Command {
    std::string name;
    std::string usage;    // what follows "nereid "
    std::string summary;  // a few words
  };
  std::vector<Command> commands;
};

/// Runs when all flags are read: fills in what depends on several flags or on the environment,
/// turns deprecated flags into today's settings, and checks what no flag can check alone. The
/// message of a failure is one line.
base::Status FinishOptions(const CommandLineContext& context, FlagState& state);

}  // namespace nereid::app
