// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/options/flag_state.h"
#include "base/status.h"

namespace nereid::app {

/// The environment of a command line.
struct CommandLineContext {
  std::string executable;  // the program's path, for the default plug-in directories
  std::function<const char*(const char* name)> environment;  // like getenv; empty: no variables
  /// A command other than serve and help, for the texts that list the commands.
  struct Command {
    std::string name;
    std::string usage;    // the text after "nereid "
    std::string summary;  // a few words
  };
  std::vector<Command> commands;
  /// Whether a command line without a model repository is an error. It is none for the front ends
  /// of a server that exists.
  bool needs_repository = true;
};

/// Completes the options after all flags were read: computes the values that depend on several
/// flags or on the environment, converts deprecated flags to their current settings, and checks the
/// combinations of flags. Returns INVALID_ARGUMENT with a message of one line.
base::Status FinishOptions(const CommandLineContext& context, FlagState& state);

}  // namespace nereid::app
