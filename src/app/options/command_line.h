// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/options/finish_options.h"
#include "app/options/server_options.h"
#include "base/result.h"

namespace nereid::app {

/// The result of a command line: a server to run, or a text to print.
struct ParsedCommandLine {
  enum class Action {
    kServe,  // run the server with `options`
    kPrint,  // print `text` and exit with `exit_code`
  };
  Action action = Action::kServe;
  ServerOptions options;
  std::vector<std::string> warnings;  // lines for stderr, about deprecated flags

  std::string text;  // ends with a newline
  bool text_on_stderr = false;
  int exit_code = 0;
};

/// Parses a command line. `arguments[0]` is the program's name:
///   tritonserver <flags>         if the last component of the name is tritonserver
///   nereid serve <flags>
///   nereid --version | nereid help [serve] | nereid --help
/// `--help` among the flags prints the usage text on stderr with exit code 1, as Triton does, so
/// that scripts written for Triton work. `nereid help` and `nereid help serve` print on stdout with
/// exit code 0.
///
/// Returns INVALID_ARGUMENT for a wrong command line. The message is one complete line for stderr
/// (`Bad option: "--http-port". <reason>`); the program then exits with kUsageExitCode.
base::Result<ParsedCommandLine> ParseCommandLine(const std::vector<std::string>& arguments,
                                                 const CommandLineContext& context);

inline constexpr int kUsageExitCode = 1;

/// Returns the list of all flags. `program` is the name in the first line ("tritonserver",
/// "nereid serve").
std::string UsageText(std::string_view program);

}  // namespace nereid::app
