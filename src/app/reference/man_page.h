// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/reference/command_list.h"

namespace nereid::app::reference {

/// Returns the page nereid-<command>(1) in the language of man(7). It has no date, so that equal
/// sources give equal pages. `version` is the program's.
std::string ManPageOf(const Command& command, const std::string& version);

/// Returns the page nereid(1), which lists the commands.
std::string OverviewManPage(const std::vector<Command>& commands, const std::string& version);

}  // namespace nereid::app::reference
