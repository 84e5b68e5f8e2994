// SPDX-License-Identifier: Apache-2.0
#include "app/options/flag_table.h"

#include <climits>

#include "app/options/composite_flags.h"
#include "app/options/flag_values.h"

namespace nereid::app {
namespace {

using base::Status;

// The readers of plain flags: kPath is the way from ServerOptions to the member that is set.
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
constexpr int kMaxPort = 65535;

using S = ServerOptions;
using L = LogOptions;
using R = RepositoryOptions;
using H = HttpOptions;
using G = GrpcOptions;
using A = SagemakerOptions;
using V = VertexAiOptions;
using M = MetricsOptions;
using P = PluginOptions;
using D = DeviceOptions;

constexpr FlagSpec kFlags[] = {
    // clang-format off
    {kHelpFlag, "", "", PrintsUsage, "Print this text"},

    {"id", "string", "Server", Text<&S::id>, "The server's name in its metadata (default triton)"},
    {"exit-timeout-secs", "integer", "Server", Whole<0, INT_MAX, &S::exit_timeout_secs>, "How long a stop waits for running requests, then for models to unload (default 30)"},
    {"cpu-plan", "share|off", "Server", ReadCpuPlan, "Whether models share out the CPUs (default share), or each uses all of them", true},
    {"inline-execution", "auto|always|never", "Server", ReadInlineExecution, "Whether cheap models run on the thread on which the request arrived (default auto: by measurement)", true},
    {"execution-watchdog-secs", "integer", "Server", Whole<0, INT_MAX, &S::execution_watchdog_secs>, "A model with an execution that takes longer is not ready; its parameter execution_watchdog_secs overrides this; 0 = off (default 0)", true},
    {"max-request-memory", "integer", "Server", Whole<0, INT64_MAX, &S::max_request_memory>, "Bytes of memory for the requests that are received or wait at one time; more are refused; 0 = half of the memory that the process may use (default 0)", true},
    {"enable-sequence-listing", "boolean", "Server", Bool<&S::enable_sequence_listing>, "Answer GET v2/models/M/sequences, which tells the ids of all clients' sequences (default false)", true},

    {"log-verbose", "integer", "Logging", ReadLogVerbose, "Level of the verbose log; 0 = off (default 0)"},
    {"log-info", "boolean", "Logging", Bool<&S::log, &L::info>, "Log what is worth knowing (default true)"},
    {"log-warning", "boolean", "Logging", Bool<&S::log, &L::warning>, "Log what may be wrong (default true)"},
    {"log-error", "boolean", "Logging", Bool<&S::log, &L::error>, "Log what failed (default true)"},
    {"log-format", "default|ISO8601", "Logging", ReadLogFormat, "How a line begins (default default)"},
    {"log-file", "path", "Logging", Text<&S::log, &L::file>, "Append the log to this file instead of the standard streams"},

    {"model-store", "path", "Model Repository", ReadModelRepository, "The same as --model-repository"},
    {"model-repository", "path", "Model Repository", ReadModelRepository, "A directory of models; needed, may be repeated"},
    {"exit-on-error", "boolean", "Model Repository", Bool<&S::repository, &R::exit_on_error>, "End when a model cannot be loaded at start (default true)"},
    {"disable-auto-complete-config", "", "Model Repository", DisableAutoComplete, "Take model configurations as written: nothing is asked of the backends"},
    {"strict-readiness", "boolean", "Model Repository", Bool<&S::repository, &R::strict_readiness>, "Ready only when all models are (default true)"},
    {"model-control-mode", "none|poll|explicit", "Model Repository", ReadModelControlMode, "When models are loaded: at start, when files change, or when asked (default none)"},
    {"repository-poll-secs", "integer", "Model Repository", Whole<0, INT_MAX, &S::repository, &R::poll_secs>, "Time between looks at the repository in mode poll (default 15)"},
    {"load-model", "string", "Model Repository", ReadLoadModel, "A model to load at start in mode explicit, or * alone for all; may be repeated"},
    {"model-config-name", "string", "Model Repository", ReadModelConfigName, "Use configs/<string>.pbtxt where a model has it"},
    {"model-load-thread-count", "integer", "Model Repository", Whole<1, kMaxThreads, &S::repository, &R::load_thread_count>, "How many models load at once (default 4)"},
    {"model-load-retry-count", "integer", "Model Repository", Whole<0, INT_MAX, &S::repository, &R::load_retry_count>, "Further tries after a failed load (default 0)"},
    {"model-namespacing", "boolean", "Model Repository", Bool<&S::repository, &R::namespacing>, "Let repositories have models of the same name (default false)"},
    {"enable-peer-access", "boolean", "Model Repository", Bool<&S::repository, &R::enable_peer_access>, "Let GPUs read each other's memory where they can (default true)"},

    {"allow-http", "boolean", "HTTP", Bool<&S::http, &H::enabled>, "Serve HTTP (default true)"},
    {"http-address", "string", "HTTP", Text<&S::http, &H::address>, "Address for HTTP (default 0.0.0.0)"},
    {"http-port", "integer", "HTTP", Whole<0, kMaxPort, &S::http, &H::port>, "Port for HTTP; 0 = the system chooses (default 8000)"},
    {"reuse-http-port", "boolean", "HTTP", Bool<&S::http, &H::reuse_port>, "Share the port with other servers (default false)"},
    {"http-header-forward-pattern", "regex", "HTTP", Text<&S::http, &H::header_forward_pattern>, "Headers that become request parameters (default none)"},
    {"http-thread-count", "integer", "HTTP", Whole<1, kMaxThreads, &S::http, &H::thread_count>, "Event loops (default one per core, 8 at most)"},
    {"http-max-input-size", "integer", "HTTP", Whole<1, INT64_MAX, &S::http, &H::max_input_size>, "Largest request body in bytes, decompressed too (default 67108864)"},
    {"http-restricted-api", "api[,api]:key=value", "HTTP", ReadHttpRestricted, "Serve these only to requests with the header 'key: value'; may be repeated"},

    {"allow-grpc", "boolean", "GRPC", Bool<&S::grpc, &G::enabled>, "Serve gRPC (default true)"},
    {"grpc-address", "string", "GRPC", Text<&S::grpc, &G::address>, "Address for gRPC (default 0.0.0.0)"},
    {"grpc-port", "integer", "GRPC", Whole<0, kMaxPort, &S::grpc, &G::port>, "Port for gRPC; 0 = the system chooses (default 8001)"},
    {"reuse-grpc-port", "boolean", "GRPC", Bool<&S::grpc, &G::reuse_port>, "Share the port with other servers (default false)"},
    {"grpc-header-forward-pattern", "regex", "GRPC", Text<&S::grpc, &G::header_forward_pattern>, "Metadata that become request parameters (default none)"},
    {"grpc-infer-thread-count", "integer", "GRPC", Whole<2, 128, &S::grpc, &G::infer_thread_count>, "Threads for inference calls (default 2)"},
    {"grpc-infer-allocation-pool-size", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::infer_allocation_pool_size>, "Request states kept for reuse (default 8)"},
    {"grpc-max-response-pool-size", "integer", "GRPC", Whole<1, INT_MAX, &S::grpc, &G::max_response_pool_size>, "Responses that may wait in one stream (default 2147483647)"},
    {"grpc-use-ssl", "boolean", "GRPC", Bool<&S::grpc, &G::use_ssl>, "Speak TLS (default false)"},
    {"grpc-use-ssl-mutual", "boolean", "GRPC", Bool<&S::grpc, &G::use_ssl_mutual>, "Speak TLS and ask clients for certificates (default false)"},
    {"grpc-server-cert", "path", "GRPC", Text<&S::grpc, &G::server_cert>, "PEM file of the server's certificate"},
    {"grpc-server-key", "path", "GRPC", Text<&S::grpc, &G::server_key>, "PEM file of the server's key"},
    {"grpc-root-cert", "path", "GRPC", Text<&S::grpc, &G::root_cert>, "PEM file of the certificates that clients are checked against"},
    {"grpc-infer-response-compression-level", "none|low|medium|high", "GRPC", ReadCompressionLevel, "Compression of responses (default none)"},
    {"grpc-keepalive-time", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::keepalive_time_ms>, "Milliseconds of silence before a ping (default 7200000)"},
    {"grpc-keepalive-timeout", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::keepalive_timeout_ms>, "Milliseconds that a ping may stay unanswered (default 20000)"},
    {"grpc-keepalive-permit-without-calls", "boolean", "GRPC", Bool<&S::grpc, &G::keepalive_permit_without_calls>, "Ping connections without calls too (default false)"},
    {"grpc-http2-max-pings-without-data", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::http2_max_pings_without_data>, "Pings without data in between; 0 = no bound (default 2)"},
    {"grpc-http2-min-recv-ping-interval-without-data", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::http2_min_recv_ping_interval_without_data_ms>, "Milliseconds that clients must leave between pings (default 300000)"},
    {"grpc-http2-max-ping-strikes", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::http2_max_ping_strikes>, "Bad pings before a connection is closed; 0 = no bound (default 2)"},
    {"grpc-max-connection-age", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::max_connection_age_ms>, "Milliseconds that a connection may live; 0 = no bound (default 0)"},
    {"grpc-max-connection-age-grace", "integer", "GRPC", Whole<0, INT_MAX, &S::grpc, &G::max_connection_age_grace_ms>, "Milliseconds that calls get after that; 0 = no bound (default 0)"},
    {"grpc-restricted-protocol", "protocol[,protocol]:key=value", "GRPC", ReadGrpcRestricted, "Serve these only to calls with the metadata 'triton-grpc-protocol-key: value'; may be repeated"},

    {"allow-sagemaker", "boolean", "SageMaker", Bool<&S::sagemaker, &A::enabled>, "Serve SageMaker (default false)"},
    {"sagemaker-port", "integer", "SageMaker", Whole<0, kMaxPort, &S::sagemaker, &A::port>, "Port for SageMaker (default 8080)"},
    {"sagemaker-safe-port-range", "first-last", "SageMaker", ReadSafePortRange, "The ports that other services may use"},
    {"sagemaker-thread-count", "integer", "SageMaker", Whole<1, kMaxThreads, &S::sagemaker, &A::thread_count>, "Threads for SageMaker (default 8)"},

    {"allow-vertex-ai", "boolean", "Vertex AI", Bool<&S::vertex_ai, &V::enabled>, "Serve Vertex AI (default true if AIP_MODE is PREDICTION, else false)"},
    {"vertex-ai-port", "integer", "Vertex AI", Whole<0, kMaxPort, &S::vertex_ai, &V::port>, "Port for Vertex AI (default AIP_HTTP_PORT, else 8080)"},
    {"vertex-ai-thread-count", "integer", "Vertex AI", Whole<1, kMaxThreads, &S::vertex_ai, &V::thread_count>, "Threads for Vertex AI (default 8)"},
    {"vertex-ai-default-model", "string", "Vertex AI", Text<&S::vertex_ai, &V::default_model>, "The model that answers where a request names none"},

    {"allow-metrics", "boolean", "Metrics", Bool<&S::metrics, &M::enabled>, "Serve metrics (default true)"},
    {"allow-gpu-metrics", "boolean", "Metrics", Bool<&S::metrics, &M::gpu>, "Metrics of GPUs (default true)"},
    {"allow-cpu-metrics", "boolean", "Metrics", Bool<&S::metrics, &M::cpu>, "Metrics of the machine (default true)"},
    {"metrics-address", "string", "Metrics", Text<&S::metrics, &M::address>, "Address for metrics (default the one of HTTP)"},
    {"metrics-port", "integer", "Metrics", Whole<0, kMaxPort, &S::metrics, &M::port>, "Port for metrics; 0 = the system chooses (default 8002)"},
    {"metrics-interval-ms", "number", "Metrics", ReadMetricsInterval, "Milliseconds between readings of devices and machine (default 2000)"},
    {"metrics-config", "setting=value", "Metrics", ReadMetricsConfig, "counter_latencies, histogram_latencies, summary_latencies or summary_quantiles; may be repeated"},

    {"trace-config", "[mode,]setting=value", "Tracing", ReadTraceConfig, "rate, level, count, mode; triton,file and log-frequency; opentelemetry,url, resource and bsp_*; may be repeated"},

    {"backend-directory", "path", "Backend", Text<&S::plugins, &P::backend_directory>, "Where the backends are (default beside the program, see the documentation)"},
    {"backend-config", "[backend,]setting=value", "Backend", ReadBackendConfig, "A setting for one backend, or for all; may be repeated"},
    {"repoagent-directory", "path", "Repository Agent", Text<&S::plugins, &P::repoagent_directory>, "Where the repository agents are"},
    {"cache-config", "cache,setting=value", "Response Cache", ReadCacheConfig, "Use this response cache, with this setting; may be repeated"},
    {"cache-directory", "path", "Response Cache", Text<&S::plugins, &P::cache_directory>, "Where the response caches are"},

    {"rate-limit", "off|execution_count", "Rate Limiter", ReadRateLimit, "Whether executions wait for resources (default off)"},
    {"rate-limit-resource", "name:count[:device]", "Rate Limiter", ReadRateLimitResource, "How much of a resource there is; may be repeated"},

    {"pinned-memory-pool-byte-size", "integer", "Memory/Device Management", Whole<0, INT64_MAX, &S::devices, &D::pinned_memory_pool_byte_size>, "Pinned host memory in bytes (default 268435456)"},
    {"cuda-memory-pool-byte-size", "device:bytes", "Memory/Device Management", ReadCudaPoolSize, "Device memory for tensors (default 67108864 per device); may be repeated"},
    {"cuda-virtual-address-size", "device:bytes", "Memory/Device Management", ReadCudaAddressSize, "How far a device's memory for tensors may grow (default 1073741824 per device); may be repeated"},
    {"min-supported-compute-capability", "number", "Memory/Device Management", MinComputeCapability, "Leave older GPUs alone (default 0: use all)"},
    {"buffer-manager-thread-count", "integer", "Memory/Device Management", Whole<0, kMaxThreads, &S::devices, &D::buffer_manager_thread_count>, "Threads that copy tensors (default 0: none)"},
    {"host-policy", "policy,setting=value", "Memory/Device Management", ReadHostPolicy, "numa-node or cpu-cores of a host policy; may be repeated"},
    {"model-load-gpu-limit", "device:fraction", "Memory/Device Management", ReadGpuLimit, "Refuse a model when more of a device's memory is taken; may be repeated"},
    {"allow-client-shm", "boolean", "Memory/Device Management", Bool<&S::devices, &D::allow_client_shm>, "Let clients register shared memory (default false)"},

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
