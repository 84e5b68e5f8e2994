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
  std::string_view value_form;  // "integer", "device:bytes", …; "" if the flag takes no value
  std::string_view group;       // the heading in the usage text
  base::Status (*read)(FlagState& state, std::string_view value);
  std::string_view help;
  /// True for a flag that Triton does not have. It cannot be abbreviated; otherwise it could make
  /// an abbreviation of one of Triton's flags ambiguous.
  bool is_extension = false;
};

/// Returns all flags in the order of the usage text. The `read` function of `--help` does nothing:
/// the parser prints the usage text when it finds that flag.
std::span<const FlagSpec> AllFlags();

inline constexpr std::string_view kHelpFlag = "help";

}  // namespace nereid::app
