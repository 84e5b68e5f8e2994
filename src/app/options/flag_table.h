// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "app/options/flag_state.h"
#include "base/status.h"

namespace nereid::app {

/// One flag of the command line.
struct FlagSpec {
  std::string_view name;        // without the two hyphens
  std::string_view value_form;  // "integer", "device:bytes", …; "" = the flag takes no value
  std::string_view group;       // the heading in the usage text
  base::Status (*read)(FlagState& state, std::string_view value);
  std::string_view help;
  bool own = false;  // not one of Triton's: never abbreviated, so that it cannot make one of
                     // Triton's abbreviations ambiguous
};

/// Every flag, in the order of the usage text. `--help` is not read: whoever meets it prints.
std::span<const FlagSpec> AllFlags();

inline constexpr std::string_view kHelpFlag = "help";

}  // namespace nereid::app
