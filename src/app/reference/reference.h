// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace nereid::app::reference {

/// Returns the text of one of these, for packages:
///
///   nereid help man [COMMAND]             a man page
///   nereid help completion bash|zsh|fish  a script for a shell
///
/// `words` are those after "help". Returns nothing for other words, and INVALID_ARGUMENT with a
/// line for stderr for a command or a shell that does not exist.
base::Result<std::optional<std::string>> ReferenceText(std::span<const std::string> words);

}  // namespace nereid::app::reference
