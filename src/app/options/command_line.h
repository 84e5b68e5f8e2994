// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/options/finish_options.h"
#include "app/options/server_options.h"
#include "base/result.h"

namespace nereid::app {

struct ParsedCommandLine {
  enum class Action {
    kServe,  // run the server with `options`
    kPrint,  // write `text` and end with `exit_code`
  };
  Action action = Action::kServe;
  ServerOptions options;
  std::vector<std::string> warnings;  // for stderr, one line each (deprecated flags)

  std::string text;  // ends with a newline
  bool text_on_stderr = false;
  int exit_code = 0;
};

/// Reads a whole command line, `arguments[0]` being the program's name:
///   tritonserver <flags>         when the name's last part is tritonserver
///   nereid serve <flags>
///   nereid --version | nereid help [serve] | nereid --help
/// `--help` among the flags prints the usage text on stderr with exit code 1: scripts written for
/// Triton see what they saw there. `nereid help` and `nereid help serve` print on stdout with 0.
///
/// A failure is INVALID_ARGUMENT and its message one whole line for stderr
/// (`Bad option: "--http-port". <reason>`); the program then ends with kUsageExitCode.
base::Result<ParsedCommandLine> ParseCommandLine(const std::vector<std::string>& arguments,
                                                 const CommandLineContext& context);

inline constexpr int kUsageExitCode = 1;

/// The list of all flags; `program` is what the first line shows ("tritonserver", "nereid serve").
std::string UsageText(std::string_view program);

}  // namespace nereid::app
