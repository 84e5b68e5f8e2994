// SPDX-License-Identifier: Apache-2.0
// nereid doctor: what a server on this machine would meet.
#include <algorithm>

#include "app/tools/doctor/findings.h"
#include "app/tools/remote/remote_server.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "base/parse_number.h"

namespace nereid::app::tools {
namespace {

constexpr ToolFlag kFlags[] = {
    {"http-port", "number", "As for serve (default 8000)"},
    {"grpc-port", "number", "As for serve (default 8001)"},
    {"metrics-port", "number", "As for serve (default 8002)"},
    {"backend-directory", "path", "As for serve"},
    kFormatFlag,
    kHelpFlag,
};

constexpr char kUsage[] =
    "Usage: nereid doctor [<repository>...] [flags]\n"
    "\n"
    "Looks at this machine as a server would meet it: CPUs, memory, limits, clock, ports, "
    "backends\n"
    "with their frameworks, libraries, GPUs, and the file systems of model repositories. Says for\n"
    "each finding the one thing to do. Each backend is loaded in a process of its own, at most 30 "
    "s.\n"
    "\n"
    "Exit codes: 0 no errors; 1 something would keep a server from working; 2 the flags are "
    "wrong.\n"
    "\n";

base::Result<std::vector<PortFacts>> PortsOf(const ToolArguments& arguments) {
  std::vector<PortFacts> ports = {{8000, "HTTP", "--http-port", ""},
                                  {8001, "gRPC", "--grpc-port", ""},
                                  {8002, "metrics", "--metrics-port", ""}};
  for (PortFacts& port : ports) {
    const std::string name = port.flag.substr(2);
    if (!arguments.Has(name)) continue;
    const auto number = base::ParseWhole<uint16_t>(arguments.Get(name));
    if (!number || *number == 0) {
      return base::Status::InvalidArgument(port.flag + " must be a number from 1 to 65535. Got " +
                                           arguments.Get(name));
    }
    port.port = *number;
  }
  return ports;
}

}  // namespace

ToolResult RunDoctor(std::span<const std::string> words, const ToolContext& context) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return CannotRun("doctor", arguments.status().message());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  const auto json = WantsJson(*arguments);
  if (!json.ok()) return CannotRun("doctor", json.status().message());
  const auto ports = PortsOf(*arguments);
  if (!ports.ok()) return CannotRun("doctor", ports.status().message());
  const MachineQuestions questions{*ports,
                                   arguments->Get("backend-directory", context.backend_directory),
                                   arguments->words(), context.probe_backend, context.find_gpus};
  const auto findings = Diagnose(GatherMachineFacts(questions));
  const bool has_errors = std::any_of(
      findings.begin(), findings.end(),
      [](const DoctorFinding& finding) { return finding.severity == Severity::kError; });
  return {has_errors ? 1 : 0,
          *json ? FindingsJson(findings) : FindingsText(findings, context.out_is_terminal), ""};
}

}  // namespace nereid::app::tools
