// SPDX-License-Identifier: Apache-2.0
#include "app/options/finish_options.h"

#include <vector>

#include "app/options/default_directories.h"
#include "app/options/flag_values.h"
#include "app/options/flag_words.h"
#include "app/options/trace_environment.h"
#include "frontend/net/unix_address.h"

namespace nereid::app {
namespace {

using base::Status;

constexpr int kDefaultPollSecs = 15;

std::string Variable(const CommandLineContext& context, const char* name) {
  const char* value = context.environment ? context.environment(name) : nullptr;
  return value != nullptr ? value : "";
}

// The warnings equal Triton's exactly, including its missing apostrophes, because scripts search
// for them.
void Deprecated(FlagState& state, std::string_view flag, const std::string& rest) {
  state.warnings.push_back("Warning: '--" + std::string(flag) + "' has been deprecated" + rest);
}

// Vertex AI sets environment variables in its containers. Its service is enabled only there.
Status ApplyVertexAi(const CommandLineContext& context, FlagState& state) {
  ServerOptions& options = state.options;
  if (Variable(context, "AIP_MODE") == "PREDICTION") {
    if (!state.Given("allow-vertex-ai")) options.vertex_ai.enabled = true;
    if (!state.Given("allow-http")) options.http.enabled = false;
    if (!state.Given("allow-grpc")) options.grpc.enabled = false;
  }
  const std::string port = Variable(context, "AIP_HTTP_PORT");
  if (!port.empty() && !state.Given("vertex-ai-port")) {
    const base::Result<int64_t> number = ParseInteger(port, 0, 65535);
    if (number.ok()) {
      options.vertex_ai.port = static_cast<int>(*number);
    } else if (options.vertex_ai.enabled) {
      return number.status().WithPrefix("Environment variable AIP_HTTP_PORT: ");
    }
  }
  if (options.vertex_ai.enabled && options.repository.paths.empty()) {
    const std::string path = Variable(context, "AIP_STORAGE_URI");
    if (!path.empty()) options.repository.paths.insert(path);
  }
  options.vertex_ai.predict_route = Variable(context, "AIP_PREDICT_ROUTE");
  options.vertex_ai.health_route = Variable(context, "AIP_HEALTH_ROUTE");
  return {};
}

template <typename Value>
struct Word {
  std::string_view text;
  Value value;
};

/// Reads a variable whose value is one of some words; an empty variable changes nothing.
template <typename Value, size_t kCount>
Status ReadWord(const CommandLineContext& context, const char* name,
                const Word<Value> (&words)[kCount], Value& target) {
  const std::string text = Variable(context, name);
  if (text.empty()) return {};
  std::string expected;
  for (const Word<Value>& word : words) {
    if (word.text == text) {
      target = word.value;
      return {};
    }
    expected.append(expected.empty() ? "" : " or ").append(word.text);
  }
  return Status::InvalidArgument("Environment variable " + std::string(name) + " must be " +
                                 expected + ". Got " + text);
}

// SageMaker passes what its users configure in environment variables.
Status ApplySagemaker(const CommandLineContext& context, FlagState& state) {
  SagemakerOptions& sagemaker = state.options.sagemaker;
  if (!sagemaker.enabled) return {};
  sagemaker.default_model = Variable(context, "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME");
  static constexpr Word<SagemakerPing> kPings[] = {{"ready", SagemakerPing::kReady},
                                                   {"live", SagemakerPing::kLive}};
  static constexpr Word<SagemakerInference> kInferences[] = {
      {"infer", SagemakerInference::kInfer},
      {"generate", SagemakerInference::kGenerate},
      {"generate_stream", SagemakerInference::kGenerateStream}};
  NEREID_RETURN_IF_ERROR(ReadWord(context, "SAGEMAKER_TRITON_PING_MODE", kPings, sagemaker.ping));
  return ReadWord(context, "SAGEMAKER_TRITON_INFERENCE_TYPE", kInferences, sagemaker.inference);
}

Status FinishRepository(const CommandLineContext& context, FlagState& state) {
  RepositoryOptions& repository = state.options.repository;
  if (state.old_strict_model_config) {
    Deprecated(state, "strict-model-config",
               "! Please use '--disable-auto-complete-config' instead.");
    if (!state.Given("disable-auto-complete-config")) {
      repository.strict_model_config = *state.old_strict_model_config;
    } else if (!*state.old_strict_model_config) {
      state.warnings.push_back(
          "Warning: Overriding deprecated '--strict-model-config' from False to True in favor of "
          "'--disable-auto-complete-config'!");
    }
  }
  if (repository.paths.empty() && context.needs_repository) {
    return Status::InvalidArgument(
        "--model-repository must be specified, for example --model-repository=/models");
  }
  if (repository.control_mode != ModelControlMode::kPoll) {
    repository.poll_secs = 0;
  } else if (!state.Given("repository-poll-secs")) {
    repository.poll_secs = kDefaultPollSecs;
  }
  if (repository.startup_models.empty()) return {};
  if (repository.control_mode != ModelControlMode::kExplicit) {
    return Status::InvalidArgument(
        "Error: Use of '--load-model' requires setting '--model-control-mode=explicit' as well.");
  }
  if (repository.startup_models.contains("*") && repository.startup_models.size() > 1) {
    return Status::InvalidArgument(
        BadOption("load-model", "'*' loads all models and must be the only value of this flag"));
  }
  return {};
}

Status FinishCache(FlagState& state) {
  if (!state.old_response_cache_byte_size) return {};
  PluginOptions& plugins = state.options.plugins;
  if (!plugins.cache_name.empty()) {
    return Status::InvalidArgument(
        "Error: Incompatible flags --response-cache-byte-size and --cache-config both provided, "
        "use --cache-config alone");
  }
  const std::string size = std::to_string(*state.old_response_cache_byte_size);
  Deprecated(state, "response-cache-byte-size",
             "! This will default to the 'local' cache implementation with the provided byte size "
             "for its config. Please use '--cache-config' instead. The equivalent --cache-config "
             "CLI args would be: '--cache-config=local,size=" +
                 size + "'");
  if (*state.old_response_cache_byte_size == 0) return {};
  plugins.cache_name = "local";
  plugins.cache_config = {{"size", size}};
  return {};
}

// Copies the value of a deprecated flag --trace-<name> unless --trace-config contains `setting`.
template <typename T, typename U>
void TakeOldTrace(FlagState& state, std::string_view flag, std::string_view setting,
                  const std::string& instead, const std::optional<T>& old, U& target) {
  if (!old) return;
  Deprecated(state, flag,
             " and will be removed in future releases. Please use '--trace-config " + instead +
                 " instead.");
  if (state.Given("trace-config " + std::string(setting))) {
    state.warnings.push_back("Warning: Overriding deprecated '--" + std::string(flag) +
                             "' in favor of provided " + std::string(setting) +
                             (setting == "rate" || setting == "level" ? " value" : "") +
                             " in --trace-config!");
    return;
  }
  target = static_cast<U>(*old);
}

void FinishTrace(FlagState& state) {
  TraceOptions& trace = state.options.trace;
  const OldTraceFlags old = state.old_trace;
  TakeOldTrace(state, "trace-file", "file", "triton,file=<filepath>", old.file, trace.file);
  TakeOldTrace(state, "trace-rate", "rate", "rate=<rate value>", old.rate, trace.rate);
  TakeOldTrace(state, "trace-count", "count", "count=<count value>", old.count, trace.count);
  TakeOldTrace(state, "trace-log-frequency", "log-frequency",
               "triton,log-frequency=<log frequency value>", old.log_frequency,
               trace.log_frequency);
  if (!state.Given("trace-level")) return;
  bool unused = false;
  const bool overridden = state.Given("trace-config level");
  TakeOldTrace(state, "trace-level", "level", "level=<OFF|TIMESTAMPS|TENSORS>", std::optional(true),
               unused);
  if (overridden) return;
  trace.timestamps = old.timestamps && !old.level_off;
  trace.tensors = old.tensors && !old.level_off;
}

void FinishServices(const CommandLineContext& context, FlagState& state) {
  ServerOptions& options = state.options;
  for (TlsOptions* tls : {&options.http.tls, &options.grpc.tls, &options.metrics.tls}) {
    if (tls->mutual) tls->enabled = true;
  }
  if (!state.Given("metrics-address")) {
    // Two services cannot share one Unix socket, and the address of a service that is off need not
    // be one. The machine's own address exposes no more.
    const std::string& http = options.http.address;
    const bool is_unusable = !options.http.enabled && (http.empty() || http.front() == '-');
    const bool is_apart = frontend::net::IsUnixAddress(http) || is_unusable;
    options.metrics.address = is_apart ? "127.0.0.1" : http;
  }
  if (!options.metrics.enabled) options.metrics.gpu = options.metrics.cpu = false;
  const auto fill = [&](std::string& directory, std::string_view flag, std::string_view kind) {
    if (!state.Given(flag)) directory = DefaultPluginDirectory(kind, context.executable);
  };
  fill(options.plugins.backend_directory, "backend-directory", "backends");
  fill(options.plugins.repoagent_directory, "repoagent-directory", "repoagents");
  fill(options.plugins.cache_directory, "cache-directory", "caches");
}

Status CheckHandover(const ServerOptions& options) {
  if (options.sequence_handover_peers.empty() == options.sequence_handover_token_file.empty()) {
    return {};
  }
  return Status::InvalidArgument(
      "--sequence-handover-peers and --sequence-handover-token-file need each other: without the "
      "token anyone could take the states of sequences");
}

/// Completes the address of a front end that is off unless its port, or a Unix socket, is given.
/// `flags` is what its flags begin with: "--admin".
Status FinishOptionalPort(const FlagState& state, std::string_view flags,
                          const std::string& address, std::optional<int>* port) {
  // A Unix socket has no port.
  if (!*port && frontend::net::IsUnixAddress(address)) *port = 0;
  const std::string address_flag = std::string(flags) + "-address";
  if (!state.Given(address_flag.substr(2)) || *port) return {};
  return Status::InvalidArgument(address_flag + " needs " + std::string(flags) + "-port");
}

Status FinishAccess(FlagState& state) {
  AccessOptions& access = state.options.access;
  if (access.protect_health && access.auth_file.empty()) {
    return Status::InvalidArgument(
        "--auth-protect-health needs --auth-file, which says who has a role");
  }
  NEREID_RETURN_IF_ERROR(
      FinishOptionalPort(state, "--admin", access.admin_address, &access.admin_port));
  ConsoleOptions& console = state.options.console;
  return FinishOptionalPort(state, "--console", console.address, &console.port);
}

struct Service {
  const char* name;
  bool enabled;
  const std::string& address;
  int port;
  const char* port_flag;
  const Status* bad_port;  // null: the port can be used
};

/// Returns where two services listen if it is the same place, else an empty text.
std::string SharedPlace(const Service& a, const Service& b) {
  if (a.address != b.address) return {};
  if (frontend::net::IsUnixAddress(a.address)) return "Unix socket " + a.address;
  // For port 0 the system chooses a different port each time.
  if (a.port == 0 || a.port != b.port) return {};
  return "address and port " + a.address + ":" + std::to_string(a.port);
}

/// Checks the addresses and ports of the services that are on.
Status CheckPorts(const FlagState& state) {
  const ServerOptions& options = state.options;
  const auto bad = [&](const int& port) {
    const auto found = state.bad_ports.find(&port);
    return found == state.bad_ports.end() ? nullptr : &found->second;
  };
  std::vector<Service> services;
  for (const Service& service :
       {Service{"HTTP", options.http.enabled, options.http.address, options.http.port, "http-port",
                bad(options.http.port)},
        Service{"GRPC", options.grpc.enabled, options.grpc.address, options.grpc.port, "grpc-port",
                bad(options.grpc.port)},
        Service{"metrics", options.metrics.enabled, options.metrics.address, options.metrics.port,
                "metrics-port", bad(options.metrics.port)},
        Service{"SageMaker", options.sagemaker.enabled, options.sagemaker.address,
                options.sagemaker.port, "sagemaker-port", bad(options.sagemaker.port)},
        Service{"Vertex AI", options.vertex_ai.enabled, options.vertex_ai.address,
                options.vertex_ai.port, "vertex-ai-port", bad(options.vertex_ai.port)},
        Service{"management", options.access.admin_port.has_value(), options.access.admin_address,
                options.access.admin_port.value_or(0), "admin-port", nullptr},
        Service{"console", options.console.port.has_value(), options.console.address,
                options.console.port.value_or(0), "console-port", nullptr}}) {
    if (!service.enabled) continue;
    if (service.bad_port != nullptr) {
      return Status::InvalidArgument(BadOption(service.port_flag, service.bad_port->message()));
    }
    services.push_back(service);
  }
  for (size_t i = 0; i < services.size(); ++i) {
    const Service& a = services[i];
    const auto& range = options.sagemaker.safe_port_range;
    const bool bound = options.sagemaker.enabled && range &&
                       a.name != std::string_view("SageMaker") &&
                       a.address == options.sagemaker.address;
    if (bound && (a.port < range->first || a.port > range->second)) {
      return Status::InvalidArgument(std::string("The server cannot listen to ") + a.name +
                                     " requests at port " + std::to_string(a.port) +
                                     ", allowed port range is [" + std::to_string(range->first) +
                                     ", " + std::to_string(range->second) + "]");
    }
    for (size_t j = i + 1; j < services.size(); ++j) {
      const Service& b = services[j];
      const std::string place = SharedPlace(a, b);
      if (place.empty()) continue;
      return Status::InvalidArgument(std::string("The server cannot listen to ") + a.name +
                                     " requests and " + b.name + " requests at the same " + place);
    }
  }
  return {};
}

}  // namespace

Status FinishOptions(const CommandLineContext& context, FlagState& state) {
  NEREID_RETURN_IF_ERROR(ApplyVertexAi(context, state));
  NEREID_RETURN_IF_ERROR(ApplySagemaker(context, state));
  FinishServices(context, state);
  FinishTrace(state);
  NEREID_RETURN_IF_ERROR(ApplyTraceEnvironment(context.environment, state));
  NEREID_RETURN_IF_ERROR(CheckHandover(state.options));
  NEREID_RETURN_IF_ERROR(FinishAccess(state));
  NEREID_RETURN_IF_ERROR(CheckPorts(state));
  NEREID_RETURN_IF_ERROR(FinishCache(state));
  return FinishRepository(context, state);
}

}  // namespace nereid::app
