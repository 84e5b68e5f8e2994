// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/reference/command_list.h"

namespace nereid::app::reference {

/// Return a script that completes the commands, flags and values of the program in a shell. Flags
/// whose form lists the values have these completed; flags with a path have files.
std::string BashCompletion(const std::vector<Command>& commands);
std::string ZshCompletion(const std::vector<Command>& commands);
std::string FishCompletion(const std::vector<Command>& commands);

}  // namespace nereid::app::reference
