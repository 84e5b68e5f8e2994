// SPDX-License-Identifier: Apache-2.0
#include "app/options/flag_table.h"

#include <climits>

#include "app/options/composite_flags.h"
#include "app/options/flag_values.h"

namespace nereid::app {
namespace {

using base::Status;

// The readers of plain flags. kPath is the path of member pointers from ServerOptions to the member
// that the flag sets.
template <auto... kPath>
auto& At(FlagState& state) {
  return (state.options.*....*kPath);
}

template <auto... kPath>
Status Bool(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(At<kPath...>(state), ParseBool(value));
  return {};
}

template <auto... kPath>
Status Text(FlagState& state, std::string_view value) {
  At<kPath...>(state) = value;
  return {};
}

template <int64_t kMin, int64_t kMax, auto... kPath>
Status Whole(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(const int64_t number, ParseInteger(value, kMin, kMax));
  using Target = std::remove_reference_t<decltype(At<kPath...>(state))>;
  At<kPath...>(state) = static_cast<Target>(number);
  return {};
}

constexpr int kMaxPort = 65535;

/// Reads the port of a service that may be off, and whose port then does not matter.
template <auto... kPath>
Status Port(FlagState& state, std::string_view value) {
  int& port = At<kPath...>(state);
  state.bad_ports.erase(&port);
  NEREID_RETURN_IF_ERROR(ParseInteger(value, INT64_MIN, INT64_MAX).status());
  const auto number = ParseInteger(value, 0, kMaxPort);
  if (number.ok()) {
    port = static_cast<int>(*number);
  } else {
    state.bad_ports.emplace(&port, number.status());
  }
  return {};
}

Status DisableAutoComplete(FlagState& state, std::string_view) {
  state.options.repository.strict_model_config = true;
  return {};
}

Status StrictModelConfig(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(state.old_strict_model_config, ParseBool(value));
  return {};
}

Status ResponseCacheByteSize(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(const int64_t bytes, ParseInteger(value, 0, INT64_MAX));
  state.old_response_cache_byte_size = static_cast<uint64_t>(bytes);
  return {};
}

Status MinComputeCapability(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(state.options.devices.min_supported_compute_capability,
                          ParseNumber(value, 0, 1000));
  return {};
}

Status PrintsUsage(FlagState&, std::string_view) { return {}; }

constexpr int kMaxThreads = 1024;

using S = ServerOptions;
using L = LogOptions;
using R = RepositoryOptions;
using H = HttpOptions;
using G = GrpcOptions;
using C = AccessOptions;
using A = SagemakerOptions;
using V = VertexAiOptions;
using M = MetricsOptions;
using T = TlsOptions;
using P = PluginOptions;
using D = DeviceOptions;
using O = ConsoleOptions;

constexpr FlagSpec kFlags[] = {
    // clang-format off
    {kHelpFlag, "", "", PrintsUsage, "Print this text"},

    {"id", "string", "Server", Text<&S::id>, "Server name in the metadata (default triton)"},
    {"exit-timeout-secs", "integer", "Server", Whole<0, INT_MAX, &S::exit_timeout_secs>, "Seconds that a stop waits for requests in flight and for models to unload (default 30)"},
    {"drain-secs", "integer", "Server", Whole<0, INT_MAX, &S::drain_secs>, "Seconds after SIGTERM or SIGINT in which the server is not ready and begins no new sequences, but serves everything else, before it stops; 0 = it stops at once (default 0)", true},
    {"cpu-plan", "share|off", "Server", ReadCpuPlan, "share = an execution uses the CPUs that are idle, and several share them; off = every model uses all CPUs (default share)", true},
    {"inline-execution", "auto|always|never", "Server", ReadInlineExecution, "Whether short executions run on the thread that received the request; auto = decided by measurement (default auto)", true},
    {"execution-watchdog-secs", "integer", "Server", Whole<0, INT_MAX, &S::execution_watchdog_secs>, "Seconds after which a model with a running execution is not ready; the model parameter execution_watchdog_secs overrides this; 0 = off (default 0)", true},
    {"watchdog-secs", "integer", "Server", Whole<0, INT_MAX, &S::watchdog_secs>, "Seconds for which an event loop, a scheduler, a pool of threads or the timers may not move until the log, the metrics and the health with reasons name them; 0 = off (default 60)", true},
    {"watchdog-liveness", "boolean", "Server", Bool<&S::watchdog_liveness>, "Report the server as not live while one of these stages is stuck (default false)", true},
    {"max-request-memory", "integer", "Server", Whole<0, INT64_MAX, &S::max_request_memory>, "Maximum bytes of memory for requests that are being received or are waiting; further requests are refused; 0 = half of the memory that the process may use (default 0)", true},
    {"enable-sequence-listing", "boolean", "Server", Bool<&S::enable_sequence_listing>, "Serve GET v2/models/M/sequences, which lists the sequence ids of all clients (default false)", true},
    {"sequence-id-header", "string", "Server", ReadSequenceIdHeader, "Header of HTTP requests, and metadata of gRPC calls, whose value is the sequence id of requests without the parameter sequence_id (default none)", true},
    {"replica-name", "string", "Server", ReadReplicaName, "Name of this server in the header x-nereid-replica of its answers (default none: there is no such header)", true},
    {"sequence-handover-peers", "address[,address]", "Server", ReadSequenceHandoverPeers, "Other replicas of this server, [http://|https://]HOST:PORT of their HTTP ports, from which open sequences are fetched when a request for them arrives here, and to which they are handed over at a stop; an http name may have the addresses of all replicas (default none)", true},
    {"sequence-handover-token-file", "path", "Server", Text<&S::sequence_handover_token_file>, "File with the token by which these replicas know each other, <name>.<secret>; with --auth-file it must have the role manage", true},
    {"unix-socket-mode", "octal", "Server", ReadUnixSocketMode, "Permissions of the files of Unix sockets (default 0660)", true},
    {"max-connections-per-address", "integer", "Server", Whole<0, INT_MAX, &S::max_connections_per_address>, "Maximum number of open connections of one client address to HTTP and gRPC together; an address of IPv6 counts with its /64 network; 0 = unlimited (default 0)", true},

    {"log-verbose", "integer", "Logging", ReadLogVerbose, "Verbosity of the log; 0 = no verbose lines (default 0)"},
    {"log-info", "boolean", "Logging", Bool<&S::log, &L::info>, "Log informational lines (default true)"},
    {"log-warning", "boolean", "Logging", Bool<&S::log, &L::warning>, "Log warnings (default true)"},
    {"log-error", "boolean", "Logging", Bool<&S::log, &L::error>, "Log errors (default true)"},
    {"log-format", "default|ISO8601|json", "Logging", ReadLogFormat, "Format of log lines: default and ISO8601 as in Triton, or one JSON object per line (default default)"},
    {"access-log", "boolean", "Logging", Bool<&S::log, &L::access>, "Log one line for each finished HTTP and gRPC request (default false)", true},
    {"log-file", "path", "Logging", Text<&S::log, &L::file>, "Append the log to this file instead of writing it to the standard streams"},

    {"model-store", "path", "Model Repository", ReadModelRepository, "Alias of --model-repository"},
    {"model-repository", "path", "Model Repository", ReadModelRepository, "Directory of models, or URL of a directory in an object store (s3://, gs://, as://); required, may be repeated"},
    {"exit-on-error", "boolean", "Model Repository", Bool<&S::repository, &R::exit_on_error>, "Exit if a model cannot be loaded at start (default true)"},
    {"disable-auto-complete-config", "", "Model Repository", DisableAutoComplete, "Use model configurations as written; backends do not complete them"},
    {"strict-readiness", "boolean", "Model Repository", Bool<&S::repository, &R::strict_readiness>, "Report the server as ready only if all models are ready (default true)"},
    {"model-control-mode", "none|poll|explicit", "Model Repository", ReadModelControlMode, "When models are loaded: none = at start, poll = also when files change, explicit = on request (default none)"},
    {"repository-poll-secs", "integer", "Model Repository", Whole<0, INT_MAX, &S::repository, &R::poll_secs>, "Seconds between two scans of the repositories in mode poll (default 15)"},
    {"repository-settle-secs", "integer", "Model Repository", Whole<0, INT_MAX, &S::repository, &R::settle_secs>, "Load a changed model only when its files have been still for these seconds, or a rename has put them in place, or they match nereid.sha256; 0 = at once (default 0)", true},
    {"load-model", "string", "Model Repository", ReadLoadModel, "Model to load at start in mode explicit; * alone = all models; may be repeated"},
    {"model-config-name", "string", "Model Repository", ReadModelConfigName, "Use configs/<string>.pbtxt for models that have this file"},
    {"model-load-thread-count", "integer", "Model Repository", Whole<1, kMaxThreads, &S::repository, &R::load_thread_count>, "Number of threads that load models (default 4)"},
    {"model-load-retry-count", "integer", "Model Repository", Whole<0, INT_MAX, &S::repository, &R::load_retry_count>, "Number of retries after a failed load (default 0)"},
    {"model-load-timeout-secs", "integer", "Model Repository", Whole<0, INT_MAX, &S::repository, &R::load_timeout_secs>, "Seconds after which the load of a model fails and is given up; the model parameter load_timeout_secs overrides this; 0 = unlimited (default 0)", true},
    {"model-namespacing", "boolean", "Model Repository", Bool<&S::repository, &R::namespacing>, "Allow models of the same name in different repositories (default false)"},
    {"model-cache-directory", "path", "Model Repository", Text<&S::repository, &R::cache_directory>, "Directory of the local copies of models in object stores; several servers may share it (default: below TRITON_AWS_MOUNT_DIRECTORY, TRITON_GCS_MOUNT_DIRECTORY or TRITON_AZURE_MOUNT_DIRECTORY if set, else below the system's directory for temporary files)", true},
    {"model-cache-size", "integer", "Model Repository", Whole<0, INT64_MAX, &S::repository, &R::cache_size>, "Maximum bytes of these copies; files of loaded models are kept beyond it; 0 = unlimited (default 34359738368)", true},
    {"model-memory-budget", "integer", "Model Repository", Whole<0, INT64_MAX, &S::repository, &R::memory_budget>, "Bytes of memory for models: a model is loaded by its first request, and the least recently used ones make room; 0 = every model is loaded at once and stays (default 0)", true},
    {"model-min-residence-secs", "integer", "Model Repository", Whole<0, INT_MAX / 1000, &S::repository, &R::min_residence_secs>, "Seconds that a model stays in memory at least, with a budget; it always stays as long as its load took (default 0)", true},
    {"model-wait-secs", "integer", "Model Repository", Whole<1, INT_MAX / 1000, &S::repository, &R::wait_secs>, "Seconds that a request waits at most until its model is in memory, with a budget (default 60)", true},
    {"model-wait-queue-size", "integer", "Model Repository", Whole<1, INT_MAX, &S::repository, &R::wait_queue_size>, "Maximum number of requests that wait for models, with a budget (default 1024)", true},
    {"pin-model", "string", "Model Repository", ReadPinnedModel, "Model that is never removed from memory, with a budget; may be repeated; the model parameter memory_pinned says the same", true},
    {"enable-peer-access", "boolean", "Model Repository", Bool<&S::repository, &R::enable_peer_access>, "Allow GPUs to access each other's memory if the hardware permits it (default true)"},

    {"allow-http", "boolean", "HTTP", Bool<&S::http, &H::enabled>, "Serve HTTP (default true)"},
    {"http-address", "string", "HTTP", Text<&S::http, &H::address>, "Address for HTTP, or unix:<path> for a Unix socket (default 0.0.0.0)"},
    {"http-port", "integer", "HTTP", Port<&S::http, &H::port>, "Port for HTTP; 0 = chosen by the system (default 8000)"},
    {"reuse-http-port", "boolean", "HTTP", Bool<&S::http, &H::reuse_port>, "Share the port with other processes (default false)"},
    {"http-header-forward-pattern", "regex", "HTTP", Text<&S::http, &H::header_forward_pattern>, "Regular expression for names of headers that become request parameters (default none)"},
    {"http-thread-count", "integer", "HTTP", Whole<1, kMaxThreads, &S::http, &H::thread_count>, "Number of event loops (default one per core, at most 8)"},
    {"http-max-input-size", "integer", "HTTP", Whole<1, INT64_MAX, &S::http, &H::max_input_size>, "Maximum size of a request body in bytes, also after decompression (default 67108864)"},
    {"http-cors-allow-origin", "origin[,origin]", "HTTP", ReadCorsOrigins, "Web pages whose scripts may use the server, for example https://example.org; * = all; may be repeated (default none)", true},
    {"http-use-ssl", "boolean", "HTTP", Bool<&S::http, &H::tls, &T::enabled>, "Use TLS (default false)", true},
    {"http-use-ssl-mutual", "boolean", "HTTP", Bool<&S::http, &H::tls, &T::mutual>, "Use TLS and require client certificates (default false)", true},
    {"http-server-cert", "path", "HTTP", Text<&S::http, &H::tls, &T::server_cert>, "PEM file of the server's certificate", true},
    {"http-server-key", "path", "HTTP", Text<&S::http, &H::tls, &T::server_key>, "PEM file of the server's key", true},
    {"http-root-cert", "path", "HTTP", Text<&S::http, &H::tls, &T::root_cert>, "PEM file of the certificates that verify client certificates", true},
    {"http-restricted-api", "api[,api]:key=value", "HTTP", ReadHttpRestricted, "Restrict these APIs to requests with the header 'key: value'; may be repeated"},

    {"allow-grpc", "boolean", "GRPC", Bool<&S::grpc, &G::enabled>, "Serve gRPC (default true)"},
    {"grpc-address", "string", "GRPC", Text<&S::grpc, &G::address>, "Address for gRPC, or unix:<path> for a Unix socket (default 0.0.0.0)"},
    {"grpc-port", "integer", "GRPC", Port<&S::grpc, &G::port>, "Port for gRPC; 0 = chosen by the system (default 8001)"},
    {"reuse-grpc-port", "boolean", "GRPC", Bool<&S::grpc, &G::reuse_port>, "Share the port with other processes (default false)"},
    {"grpc-header-forward-pattern", "regex", "GRPC", Text<&S::grpc, &G::header_forward_pattern>, "Regular expression for names of metadata that become request parameters (default none)"},
    {"grpc-infer-thread-count", "integer", "GRPC", Whole<2, 128, &S::grpc, &G::infer_thread_count>, "Number of event loops (default one per core, at most 8)"},
    {"grpc-infer-allocation-pool-size", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::infer_allocation_pool_size>, "Accepted without effect: no request states are kept for reuse (default 8)"},
    {"grpc-max-response-pool-size", "integer", "GRPC", Whole<1, INT_MAX, &S::grpc, &G::max_response_pool_size>, "Maximum number of responses of decoupled models that wait for the client of a stream (default 2147483647)"},
    {"grpc-use-ssl", "boolean", "GRPC", Bool<&S::grpc, &G::tls, &T::enabled>, "Use TLS (default false)"},
    {"grpc-use-ssl-mutual", "boolean", "GRPC", Bool<&S::grpc, &G::tls, &T::mutual>, "Use TLS and require client certificates (default false)"},
    {"grpc-server-cert", "path", "GRPC", Text<&S::grpc, &G::tls, &T::server_cert>, "PEM file of the server's certificate"},
    {"grpc-server-key", "path", "GRPC", Text<&S::grpc, &G::tls, &T::server_key>, "PEM file of the server's key"},
    {"grpc-root-cert", "path", "GRPC", Text<&S::grpc, &G::tls, &T::root_cert>, "PEM file of the certificates that verify client certificates"},
    {"grpc-infer-response-compression-level", "none|low|medium|high", "GRPC", ReadCompressionLevel, "Compression level of responses (default none)"},
    {"grpc-keepalive-time", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::keepalive_time_ms>, "Milliseconds without traffic after which the server sends a ping (default 7200000)"},
    {"grpc-keepalive-timeout", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::keepalive_timeout_ms>, "Milliseconds that the server waits for the answer to a ping (default 20000)"},
    {"grpc-keepalive-permit-without-calls", "boolean", "GRPC", Bool<&S::grpc, &G::keepalive_permit_without_calls>, "Send pings also on connections without calls (default false)"},
    {"grpc-http2-max-pings-without-data", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::http2_max_pings_without_data>, "Maximum number of pings without data in between; 0 = unlimited (default 2)"},
    {"grpc-http2-min-recv-ping-interval-without-data", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::http2_min_recv_ping_interval_without_data_ms>, "Minimum milliseconds between two pings of a client (default 300000)"},
    {"grpc-http2-max-ping-strikes", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::http2_max_ping_strikes>, "Number of too frequent pings that the server accepts before it closes the connection; 0 = unlimited (default 2)"},
    {"grpc-max-connection-age", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::max_connection_age_ms>, "Maximum age of a connection in milliseconds; 0 = unlimited (default 0)"},
    {"grpc-max-connection-age-grace", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::max_connection_age_grace_ms>, "Milliseconds that calls may continue after that age; 0 = unlimited (default 0)"},
    {"grpc-restricted-protocol", "protocol[,protocol]:key=value", "GRPC", ReadGrpcRestricted, "Restrict these protocols to calls with the metadata 'triton-grpc-protocol-key: value'; may be repeated"},

    {"auth-file", "path", "Access", Text<&S::access, &C::auth_file>, "File that says which tokens, client certificates and users have the roles infer, observe and manage; everyone else is refused; read again when it changes (default none: everyone may do everything)", true},
    {"auth-protect-health", "boolean", "Access", Bool<&S::access, &C::protect_health>, "Demand a role for the health of the server, too (default false)", true},
    {"admin-address", "string", "Access", Text<&S::access, &C::admin_address>, "Address of the HTTP server for management, or unix:<path> for a Unix socket, which needs no --admin-port (default 127.0.0.1)", true},
    {"admin-port", "integer", "Access", Whole<0, kMaxPort, &S::access, &C::admin_port>, "Port of an HTTP server of its own for management, which the other ports then refuse; 0 = chosen by the system (default none)", true},

    {"console-address", "string", "Console", Text<&S::console, &O::address>, "Address of the console, or unix:<path> for a Unix socket, which needs no --console-port (default 127.0.0.1)", true},
    {"console-port", "integer", "Console", Whole<0, kMaxPort, &S::console, &O::port>, "Port of the console, a page that shows the server to a browser; the same roles apply as for HTTP; 0 = chosen by the system (default none)", true},

    {"allow-sagemaker", "boolean", "SageMaker", Bool<&S::sagemaker, &A::enabled>, "Serve SageMaker (default false)"},
    {"sagemaker-port", "integer", "SageMaker", Port<&S::sagemaker, &A::port>, "Port for SageMaker (default 8080)"},
    {"sagemaker-safe-port-range", "first-last", "SageMaker", ReadSafePortRange, "Ports that the other services may use"},
    {"sagemaker-thread-count", "integer", "SageMaker", Whole<1, kMaxThreads, &S::sagemaker, &A::thread_count>, "Number of event loops for SageMaker (default one per core, at most 8)"},

    {"allow-vertex-ai", "boolean", "Vertex AI", Bool<&S::vertex_ai, &V::enabled>, "Serve Vertex AI (default true if AIP_MODE is PREDICTION, else false)"},
    {"vertex-ai-port", "integer", "Vertex AI", Port<&S::vertex_ai, &V::port>, "Port for Vertex AI (default AIP_HTTP_PORT, else 8080)"},
    {"vertex-ai-thread-count", "integer", "Vertex AI", Whole<1, kMaxThreads, &S::vertex_ai, &V::thread_count>, "Number of event loops for Vertex AI (default one per core, at most 8)"},
    {"vertex-ai-default-model", "string", "Vertex AI", Text<&S::vertex_ai, &V::default_model>, "Model for predictions that are not redirected (default the only model)"},

    {"allow-metrics", "boolean", "Metrics", Bool<&S::metrics, &M::enabled>, "Serve metrics (default true)"},
    {"allow-gpu-metrics", "boolean", "Metrics", Bool<&S::metrics, &M::gpu>, "Serve metrics of GPUs (default true)"},
    {"allow-cpu-metrics", "boolean", "Metrics", Bool<&S::metrics, &M::cpu>, "Serve metrics of the machine's CPUs and memory (default true)"},
    {"metrics-address", "string", "Metrics", Text<&S::metrics, &M::address>, "Address for metrics, or unix:<path> for a Unix socket (default: the address for HTTP; 127.0.0.1 if that is a Unix socket)"},
    {"metrics-port", "integer", "Metrics", Port<&S::metrics, &M::port>, "Port for metrics; 0 = chosen by the system (default 8002)"},
    {"metrics-interval-ms", "number", "Metrics", ReadMetricsInterval, "Milliseconds between two measurements of the GPUs and the machine (default 2000)"},
    {"metrics-use-ssl", "boolean", "Metrics", Bool<&S::metrics, &M::tls, &T::enabled>, "Use TLS (default false)", true},
    {"metrics-use-ssl-mutual", "boolean", "Metrics", Bool<&S::metrics, &M::tls, &T::mutual>, "Use TLS and require client certificates (default false)", true},
    {"metrics-server-cert", "path", "Metrics", Text<&S::metrics, &M::tls, &T::server_cert>, "PEM file of the server's certificate", true},
    {"metrics-server-key", "path", "Metrics", Text<&S::metrics, &M::tls, &T::server_key>, "PEM file of the server's key", true},
    {"metrics-root-cert", "path", "Metrics", Text<&S::metrics, &M::tls, &T::root_cert>, "PEM file of the certificates that verify client certificates", true},
    {"metrics-config", "setting=value", "Metrics", ReadMetricsConfig, "Setting counter_latencies, histogram_latencies, summary_latencies or summary_quantiles; may be repeated"},

    {"trace-config", "[mode,]setting=value", "Tracing", ReadTraceConfig, "Setting rate, level, count or mode; file or log-frequency of mode triton; url, resource or bsp_* of mode opentelemetry; may be repeated"},

    {"backend-directory", "path", "Backend", Text<&S::plugins, &P::backend_directory>, "Directory of the backends (default: beside the program, see the documentation)"},
    {"backend-config", "[backend,]setting=value", "Backend", ReadBackendConfig, "Setting of one backend or, without a name, of all backends; may be repeated"},
    {"repoagent-directory", "path", "Repository Agent", Text<&S::plugins, &P::repoagent_directory>, "Directory of the repository agents"},
    {"cache-config", "cache,setting=value", "Response Cache", ReadCacheConfig, "Response cache to use, and one of its settings; may be repeated"},
    {"cache-directory", "path", "Response Cache", Text<&S::plugins, &P::cache_directory>, "Directory of the response caches"},

    {"rate-limit", "off|execution_count", "Rate Limiter", ReadRateLimit, "Whether executions wait for resources (default off)"},
    {"rate-limit-resource", "name:count[:device]", "Rate Limiter", ReadRateLimitResource, "Number of units of a resource; may be repeated"},

    {"pinned-memory-pool-byte-size", "integer", "Memory/Device Management", Whole<0, INT64_MAX, &S::devices, &D::pinned_memory_pool_byte_size>, "Size of the pool of pinned host memory in bytes (default 268435456)"},
    {"cuda-memory-pool-byte-size", "device:bytes", "Memory/Device Management", ReadCudaPoolSize, "Size of a device's memory pool for tensors in bytes (default 67108864 per device); may be repeated"},
    {"cuda-virtual-address-size", "device:bytes", "Memory/Device Management", ReadCudaAddressSize, "Maximum size of a device's memory pool for tensors in bytes (default 1073741824 per device); may be repeated"},
    {"min-supported-compute-capability", "number", "Memory/Device Management", MinComputeCapability, "Minimum compute capability of the GPUs to use; 0 = all GPUs (default 6.0)"},
    {"buffer-manager-thread-count", "integer", "Memory/Device Management", Whole<0, kMaxThreads, &S::devices, &D::buffer_manager_thread_count>, "Number of threads that copy tensors; 0 = the calling thread copies (default 0)"},
    {"host-policy", "policy,setting=value", "Memory/Device Management", ReadHostPolicy, "Setting numa-node or cpu-cores of a host policy; may be repeated"},
    {"model-load-gpu-limit", "device:fraction", "Memory/Device Management", ReadGpuLimit, "Refuse to load a model onto a GPU of whose memory more than this fraction (0 to 1) is in use, before or after the load; may be repeated"},
    {"allow-client-shm", "boolean|sent", "Memory/Device Management", ReadClientShm, "Allow clients to register shared memory; sent = only objects whose descriptor they send over a Unix socket (default false)"},

    {"strict-model-config", "boolean", "Deprecated", StrictModelConfig, "Use --disable-auto-complete-config"},
    {"response-cache-byte-size", "integer", "Deprecated", ResponseCacheByteSize, "Use --cache-config=local,size=<integer>"},
    {"trace-file", "path", "Deprecated", ReadOldTraceFile, "Use --trace-config=triton,file=<path>"},
    {"trace-level", "OFF|TIMESTAMPS|TENSORS", "Deprecated", ReadOldTraceLevel, "Use --trace-config=level=<level>"},
    {"trace-rate", "integer", "Deprecated", ReadOldTraceRate, "Use --trace-config=rate=<integer>"},
    {"trace-count", "integer", "Deprecated", ReadOldTraceCount, "Use --trace-config=count=<integer>"},
    {"trace-log-frequency", "integer", "Deprecated", ReadOldTraceLogFrequency, "Use --trace-config=triton,log-frequency=<integer>"},
    // clang-format on
};

}  // namespace

std::span<const FlagSpec> AllFlags() { return kFlags; }

}  // namespace nereid::app
