// SPDX-License-Identifier: Apache-2.0
// The program: parses the command line, starts the server, and stops it at a signal.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <thread>

#include "api/sequence_handover.h"
#include "app/backend_probe.h"
#include "app/configure_log.h"
#include "app/endpoints.h"
#include "app/file_limit.h"
#include "app/options/command_line.h"
#include "app/options/default_directories.h"
#include "app/process_terminal.h"
#include "app/reference/reference.h"
#include "app/server_settings_from_options.h"
#include "app/service_manager.h"
#include "app/stop_signals.h"
#include "app/tables.h"
#include "app/tools/tool.h"
#include "app/waiting_threads.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/duration.h"
#include "base/files.h"
#include "base/log.h"
#include "base/log_output.h"
#include "base/terminal.h"
#include "curl/curl_client.h"
#include "device/gpus.h"
#include "frontend/capi/handles.h"
#include "memory/process_heap.h"
#include "model/cpu_plan.h"
#include "repository/load_gate.h"
#include "server/inference_server.h"
#include "server/model_runtime.h"

namespace nereid::app {
namespace {

/// Opens the log file again after SIGHUP, for programs that rotate logs.
void ReopenLog() {
  const base::Status status = base::ReopenLogFile();
  if (!status.ok()) {
    LOG_ERROR << "SIGHUP: " << status.message() << "; the log continues in the old file";
  } else if (base::Log::Instance().file().empty()) {
    LOG_INFO << "SIGHUP: ignored, because there is no --log-file";
  } else {
    LOG_INFO << "SIGHUP: the log file was reopened";
  }
}

void LogTable(const std::string& table) {
  base::Log& log = base::Log::Instance();
  if (log.IsEnabled(base::LogLevel::kInfo)) {
    log.Write({.file = __FILE__, .line = __LINE__, .table = table});
  }
}

std::string ThreadsOf(const model::CpuShare& share) {
  return share.varies ? "1 to " + std::to_string(share.most_threads)
                      : std::to_string(share.threads);
}

void LogCpuPlan(server::InferenceServer& server) {
  std::vector<CpuShareRow> rows;
  for (const model::CpuShare& share : server.runtime().CpuShares()) {
    rows.push_back({share.model, std::to_string(share.version), std::to_string(share.instances),
                    ThreadsOf(share), share.cpus.empty() ? "any" : base::FormatCpuList(share.cpus),
                    share.set_by});
  }
  if (!rows.empty()) LogTable(CpuPlanTable(rows));
}

void LogGpus(const device::Gpus& gpus) {
  if (!gpus.used().empty() || !gpus.too_old().empty()) LogTable(GpuTable(gpus));
}

void LogTables(server::InferenceServer& server, const ServerOptions& options) {
  std::vector<BackendRow> backends;
  for (const server::BackendSummary& backend : server.runtime().Backends()) {
    backends.push_back({backend.name, backend.path, backend.config_json});
  }
  LogTable(BackendTable(backends));
  std::vector<ModelRow> models;
  if (auto index = server.GetRepositoryIndex(false); index.ok()) {
    for (const api::RepositoryIndexEntry& entry : *index) {
      std::string status = entry.state.empty() ? "not loaded" : entry.state;
      if (!entry.reason.empty()) status += ": " + entry.reason;
      models.push_back({entry.name, entry.version, std::move(status)});
    }
  }
  // The log has the whole reasons, and so has the index.
  constexpr size_t kColumnsOfFiles = 200;
  const size_t columns = base::TerminalColumns(STDERR_FILENO);
  LogTable(ModelTable(models, columns > 0 ? columns : kColumnsOfFiles));
  LogCpuPlan(server);
  LogGpus(server.runtime().gpus());
  const api::ServerMetadata metadata = server.GetServerMetadata();
  // As in Triton, the table has the pools of all GPUs.
  ServerOptions shown = options;
  for (const int32_t gpu : server.runtime().gpus().Ordinals()) {
    shown.devices.cuda_memory_pool_byte_size.emplace(gpu, DeviceOptions::kCudaPoolBytes);
  }
  LogTable(SettingsTable(shown, {metadata.version, metadata.extensions}));
}

int Fail(const char* doing, const base::Status& status) {
  base::StandardErrors().Write("error: " + std::string(doing) + ": " +
                               std::string(base::StatusCodeText(status.code())) + " - " +
                               status.message() + "\n");
  return 1;
}

/// The maximum time in which responses are still written after the models are unloaded.
constexpr uint64_t kMaxFinalWritesNs = base::Duration::Seconds(3).ns();

/// Stops the server within `deadline_ns` and returns the exit code. The order is important:
///  1. The server refuses new work. The ports stay open, so that clients get a clear refusal, and
///  so
///     that the next requests of live sequences arrive.
///  2. The sequences that are left are handed over to other replicas, if there are any.
///  3. When nothing is in flight, the ports are closed.
///  4. The models are unloaded. This fails if requests are still in flight at `deadline_ns`.
///  5. Responses that are not completely written get a short time.
int ShutDown(server::InferenceServer& server, Endpoints& endpoints, uint64_t deadline_ns) {
  server.BeginStop();
  if (server.controls().handover != nullptr) server.controls().handover->OfferAll(deadline_ns);
  if (server.WaitUntilIdle(deadline_ns)) endpoints.BeginStop();
  const base::Status status = server.Stop(deadline_ns);
  if (!status.ok()) {
    LOG_ERROR << "failed to stop server: " << base::StatusCodeText(status.code()) << " - "
              << status.message();
    return 1;
  }
  // These responses hold no model any more. Their clients read slowly or not at all.
  endpoints.Stop(std::min(deadline_ns, base::SteadyClock().NowNs() + kMaxFinalWritesNs));
  return 0;
}

/// Lets load balancers see that the server is not ready, before it refuses anything but new
/// sequences. A second signal ends this early.
void DrainBeforeStop(server::InferenceServer& server, StopSignals& signals, int seconds) {
  if (seconds == 0) return;
  LOG_INFO << "Draining for " << seconds
           << " seconds: the server is not ready and begins no new sequences";
  server.health()->DrainForStop();
  signals.WaitForSecond(
      base::Duration::Seconds(static_cast<uint64_t>(seconds)).After(base::SteadyClock().NowNs()));
}

std::string DescribeLoads(const repository::LoadGate& gate) {
  std::string text;
  for (const std::string& model : gate.Loading()) text += (text.empty() ? " " : ", ") + model;
  return text.empty() ? text : " Models that are being loaded:" + text;
}

uint64_t MonotonicMicroseconds() { return base::SteadyClock().NowNs() / 1000; }

int Serve(const ServerOptions& options) {
  memory::BoundHeapArenas(base::UsableCpuCount());
  RaiseFileLimit();
  ReserveDescriptors();
  const auto gate = std::make_shared<repository::LoadGate>();
  const uint64_t exit_timeout_ns =
      base::Duration::Seconds(static_cast<uint64_t>(options.exit_timeout_secs)).ns();
  // These two are never destroyed, because the thread of the signals uses them until the process
  // ends.
  auto& manager = *new ServiceManager(::getenv, ::getpid());
  auto& signals = *new StopSignals(
      base::Duration::Seconds(static_cast<uint64_t>(options.drain_secs)).After(exit_timeout_ns),
      {.on_stop = [gate] { gate->Close(); },
       .describe_unfinished = [gate] { return DescribeLoads(*gate); },
       .on_hang_up = [&manager] { manager.Reload(MonotonicMicroseconds(), ReopenLog); }});
  if (const base::Status status = ConfigureLog(options.log); !status.ok()) {
    return Fail("setting up the log", status);
  }
  // Before the models are loaded, so that the console has those lines, too.
  if (options.console.port) base::Log::Instance().KeepTail();
  server::ServerSettings settings = ServerSettingsFrom(options);
  settings.load_gate = gate;
  const auto handle = frontend::capi::MakeServer(std::move(settings));
  if (!handle.ok()) {
    if (!signals.stopping()) return Fail("creating server", handle.status());
    LOG_INFO << handle.status().message();
    return 0;
  }
  server::InferenceServer& server = *(*handle)->server;
  LogTables(server, options);

  auto endpoints = std::make_unique<Endpoints>(server);
  if (const base::Status status = endpoints->Start(options); !status.ok()) {
    LOG_ERROR << status.message();
    return 1;
  }
  // A stop is bounded by its own timeout, and its server need not be live.
  ServiceWatchdog alive(manager, [&server, &signals] {
    if (signals.stopping()) return true;
    const auto live = server.IsServerLive();
    return live.ok() && *live;
  });
  if (const base::Status status = alive.Start(); !status.ok()) {
    LOG_ERROR << status.message();
    return 1;
  }
  manager.SendReady("Serving");
  signals.Wait();
  manager.SendStopping("Completing the work in flight");
  DrainBeforeStop(server, signals, options.drain_secs);
  // The drain may have ended early.
  const uint64_t deadline_ns =
      std::min(signals.deadline_ns(), base::SteadyClock().NowNs() + exit_timeout_ns);
  const int code = ShutDown(server, *endpoints, deadline_ns);
  // After a failed stop, plug-ins may still run. Destructors would free objects that they use.
  if (code != 0) ExitImmediately(code);
  return code;
}

/// Returns the tool that the command line names, or null. Under the name tritonserver there are no
/// tools.
const tools::Tool* ToolOf(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || arguments[0].ends_with("tritonserver")) return nullptr;
  return tools::FindTool(arguments[1]);
}

/// Loads the model in a separate server without front ends, and returns its configuration.
base::Result<config::ModelConfigPtr> LoadForTool(const tools::ToolContext::LoadRequest& request) {
  // The standard streams contain only the output of the tool.
  LogOptions quiet;
  quiet.info = quiet.warning = quiet.error = false;
  NEREID_RETURN_IF_ERROR(ConfigureLog(quiet));
  const std::filesystem::path directory(request.model_directory);
  const std::string name = directory.filename().string();
  server::ServerSettings settings;
  settings.model_repository_paths = {directory.parent_path().string()};
  settings.model_control_mode = server::ModelControlMode::kExplicit;
  settings.startup_models = {name};
  settings.model_config_name = request.config_name;
  settings.strict_model_config = request.strict_config;
  settings.backend_directory = request.backend_directory;
  settings.metrics_enabled = false;
  NEREID_ASSIGN_OR_RETURN(const auto handle, frontend::capi::MakeServer(std::move(settings)));
  return handle->server->GetModelConfig(name, -1);
}

int RunTool(const tools::Tool& tool, std::span<const std::string> words) {
  tools::ToolContext context;
  const std::string backends = DefaultPluginDirectory("backends", ExecutablePath());
  if (base::IsDirectory(backends)) context.backend_directory = backends;
  const std::string agents = DefaultPluginDirectory("repoagents", ExecutablePath());
  if (base::IsDirectory(agents)) context.repoagent_directory = agents;
  context.load = LoadForTool;
  context.probe_backend = ProbeBackend;
  context.make_client =
      [](const std::string& ca_file) -> base::Result<std::unique_ptr<curl::HttpClient>> {
    NEREID_ASSIGN_OR_RETURN(auto client, curl::CurlClient::Create({.certificate_file = ca_file}));
    return std::unique_ptr<curl::HttpClient>(std::move(client));
  };
  context.environment = ::getenv;
  context.find_gpus = device::Gpus::Find;
  context.terminal_columns = base::TerminalColumns(STDOUT_FILENO);
  std::signal(SIGPIPE, SIG_IGN);  // the write fails instead
  context.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  ProcessTerminal terminal;
  if (context.out_is_terminal) context.terminal = &terminal;
  context.print = [](std::string_view text) {
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
           std::fflush(stdout) == 0;
  };
  context.progress = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  context.pause = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
  const tools::ToolResult result = tool.run(words, context);
  std::fputs(result.errors.c_str(), stderr);
  // A tool whose output could not be written (full disk, closed pipe) has failed.
  const bool written =
      std::fwrite(result.out.data(), 1, result.out.size(), stdout) == result.out.size() &&
      std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return written ? result.exit_code : tools::kCannotRun;
}

}  // namespace

int RunProgram(int argc, char** argv) {
  LetOpenMpThreadsSleep();
  const std::vector<std::string> arguments(argv, argv + argc);
  if (const tools::Tool* tool = ToolOf(arguments)) {
    return RunTool(*tool, std::span(arguments).subspan(2));
  }
  if (arguments.size() > 2 && arguments[1] == "help") {
    const auto text = reference::ReferenceText(std::span(arguments).subspan(2));
    if (!text.ok()) {
      std::fprintf(stderr, "%s\n", text.status().message().c_str());
      return kUsageExitCode;
    }
    if (*text) return std::fputs((*text)->c_str(), stdout) < 0 || std::fflush(stdout) != 0;
  }
  CommandLineContext context{ExecutablePath(), ::getenv, {}};
  for (const tools::Tool& tool : tools::AllTools()) {
    context.commands.push_back(
        {std::string(tool.name), std::string(tool.usage), std::string(tool.summary)});
  }
  const auto parsed = ParseCommandLine(arguments, context);
  if (!parsed.ok()) {
    std::fprintf(stderr, "%s\n", parsed.status().message().c_str());
    return kUsageExitCode;
  }
  for (const std::string& warning : parsed->warnings) {
    std::fprintf(stderr, "%s\n", warning.c_str());
  }
  if (parsed->action == ParsedCommandLine::Action::kPrint) {
    std::fputs(parsed->text.c_str(), parsed->text_on_stderr ? stderr : stdout);
    return parsed->exit_code;
  }
  const int code = Serve(parsed->options);
  base::FlushLog();
  return code;
}

}  // namespace nereid::app

/// The engine library's ELF entry point; see main.cc. The linker names it (-e), so it needs a plain
/// name, but the version script keeps it out of the exports.
extern "C" int nereid_program(int argc, char** argv) { return nereid::app::RunProgram(argc, argv); }
