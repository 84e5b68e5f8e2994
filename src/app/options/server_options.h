// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"

namespace nereid::app {

/// Pairs of a setting and its value, in the order of the command line. A setting may occur several
/// times.
using Settings = std::vector<std::pair<std::string, std::string>>;

enum class ModelControlMode { kNone, kPoll, kExplicit };
enum class RateLimitMode { kOff, kExecutionCount };
enum class CompressionLevel { kNone, kLow, kMedium, kHigh };
enum class TraceMode { kTriton, kOpenTelemetry };
/// Which shared memory clients may register: none, objects that they send over a Unix socket, or
/// also each object of the machine that they name.
enum class ClientShm { kNone, kSent, kAll };
enum class InlineExecution { kAuto, kAlways, kNever };
enum class CpuPlanMode { kShare, kOff };
enum class SagemakerPing { kReady, kLive };
enum class SagemakerInference { kInfer, kGenerate, kGenerateStream };

struct LogOptions {
  int verbose = 0;  // 0: off, because verbose lines cost time per request
  bool info = true;
  bool warning = true;
  bool error = true;
  base::LogFormat format = base::LogFormat::kDefault;
  bool access = false;  // whether each finished request has a line
  std::string file;     // "": the standard streams, from which containers collect logs
};

struct RepositoryOptions {
  std::set<std::string> paths;       // a set, so that a repeated path is used once
  bool exit_on_error = true;         // a server without one of its models is not healthy
  bool strict_model_config = false;  // most backends can complete a configuration
  bool strict_readiness = true;
  ModelControlMode control_mode = ModelControlMode::kNone;  // read once, at start
  int poll_secs = 0;                     // default in mode poll: 15; always 0 in other modes
  int settle_secs = 0;                   // 0: changes are loaded as they are found
  std::set<std::string> startup_models;  // only in mode explicit; {"*"}: all
  std::string model_config_name;         // "": only config.pbtxt
  int load_thread_count = 4;             // loads mostly wait for files, but each one takes memory
  int load_retry_count = 0;
  int load_timeout_secs = 0;               // 0: none; a model's own parameter overrides it
  std::string cache_directory;             // of copies of remote models; "": chosen by the server
  int64_t cache_size = int64_t{32} << 30;  // bytes; 0: unlimited
  int64_t memory_budget = 0;               // bytes of memory for models; 0: no budget
  int min_residence_secs = 0;              // with a budget
  int wait_secs = 60;                      // with a budget
  int wait_queue_size = 1024;              // with a budget; requests
  std::set<std::string> pinned_models;     // with a budget
  bool namespacing = false;                // false: a model's name is unique among all repositories
  bool enable_peer_access = true;
};

/// Categories of requests that need the header (HTTP) or metadata (gRPC) `key: value`. `key` is the
/// text of the command line; gRPC clients send it as "triton-grpc-protocol-<key>".
struct RestrictedGroup {
  std::vector<std::string> categories;
  std::string key;
  std::string value;
};

/// TLS of one of the services.
struct TlsOptions {
  bool enabled = false;
  bool mutual = false;                             // implies enabled
  std::string server_cert, server_key, root_cert;  // paths of PEM files
};

struct HttpOptions {
  bool enabled = true;
  std::string address = "0.0.0.0";  // most servers run in containers behind a network policy
  int port = 8000;                  // 0: chosen by the system
  bool reuse_port = false;
  std::string header_forward_pattern;     // "": no header becomes a request parameter
  int thread_count = 0;                   // 0: not given; one event loop per core, at most 8
  int64_t max_input_size = 64 << 20;      // bytes, also after decompression
  std::vector<std::string> cors_origins;  // of web pages that may use the server; {"*"}: all
  TlsOptions tls;
  std::vector<RestrictedGroup> restricted;
};

struct GrpcOptions {
  bool enabled = true;
  std::string address = "0.0.0.0";
  int port = 8001;
  bool reuse_port = false;
  std::string header_forward_pattern;
  int infer_thread_count = 0;            // event loops; 0: as many as there are CPUs
  int infer_allocation_pool_size = 8;    // request states kept for reuse
  int max_response_pool_size = INT_MAX;  // waiting responses of one stream
  TlsOptions tls;
  CompressionLevel compression_level = CompressionLevel::kNone;  // tensors compress badly
  // The defaults of the next six are gRPC's own.
  int keepalive_time_ms = 7'200'000;
  int keepalive_timeout_ms = 20'000;
  bool keepalive_permit_without_calls = false;
  int http2_max_pings_without_data = 2;
  int http2_min_recv_ping_interval_without_data_ms = 300'000;
  int http2_max_ping_strikes = 2;
  int max_connection_age_ms = 0;        // 0: unlimited
  int max_connection_age_grace_ms = 0;  // 0: unlimited
  std::vector<RestrictedGroup> restricted;
};

/// Who may call what, beside the restrictions of Triton.
struct AccessOptions {
  std::string auth_file;        // "": everyone may do everything
  bool protect_health = false;  // probes of orchestrators have no credentials
  std::string admin_address = "127.0.0.1";
  std::optional<int> admin_port;  // absent: management is served with everything else
};

/// The page that shows the server.
struct ConsoleOptions {
  std::string address = "127.0.0.1";  // without an access file everyone who can connect may manage
  std::optional<int> port;            // absent: there is no console
};

struct SagemakerOptions {
  bool enabled = false;
  std::string address = "0.0.0.0";
  int port = 8080;                                     // required by SageMaker
  std::optional<std::pair<int, int>> safe_port_range;  // for the ports of the other services
  int thread_count = 0;                                // 0: not given; as for HTTP
  // From the environment:
  SagemakerPing ping = SagemakerPing::kReady;
  SagemakerInference inference = SagemakerInference::kInfer;
  std::string default_model;  // "": none
};

struct VertexAiOptions {
  bool enabled = false;  // default with AIP_MODE=PREDICTION: true, and HTTP and gRPC are disabled
  std::string address = "0.0.0.0";
  int port = 8080;            // AIP_HTTP_PORT if set
  int thread_count = 0;       // 0: not given; as for HTTP
  std::string default_model;  // "": the only model
  // From the environment:
  std::string predict_route, health_route;
};

struct MetricsOptions {
  bool enabled = true;
  bool gpu = true;
  bool cpu = true;
  std::string address = "0.0.0.0";  // default: the HTTP address
  int port = 8002;
  TlsOptions tls;
  int interval_ms = 2000;
  bool counter_latencies = true;
  bool histogram_latencies = false;
  bool summary_latencies = false;                               // quantiles cost a lock per request
  std::vector<std::pair<double, double>> summary_quantiles = {  // quantile, allowed error
      {0.5, 0.05},
      {0.9, 0.01},
      {0.95, 0.001},
      {0.99, 0.001},
      {0.999, 0.001}};
};

struct TraceOptions {
  TraceMode mode = TraceMode::kTriton;
  bool timestamps = false;  // both false: level OFF
  bool tensors = false;
  uint32_t rate = 1000;        // one of `rate` requests; 0: none
  int32_t count = -1;          // traces left; -1: unlimited
  std::string file;            // mode triton; "": nothing is written
  uint32_t log_frequency = 0;  // mode triton: traces per numbered file; 0: one file
  std::string otlp_url;        // mode opentelemetry; "": default_otlp_url
  std::string default_otlp_url = "http://localhost:4318/v1/traces";
  Settings otlp_headers;         // beside those of the protocol
  std::string otlp_certificate;  // path of a PEM file; "": the system's authorities
  Settings resource = {{"service.name", "triton-inference-server"}};
  Settings environment_resource;  // further attributes, of lower precedence
  // The batches of spans. The defaults are OpenTelemetry's own.
  uint32_t bsp_max_queue_size = 2048;
  uint32_t bsp_schedule_delay_ms = 5000;
  uint32_t bsp_max_export_batch_size = 512;
};

struct PluginOptions {
  std::string backend_directory;  // see default_directories.h
  std::string repoagent_directory;
  std::string cache_directory;
  std::map<std::string, Settings> backend_config;  // by backend; "": for all backends
  std::string cache_name;                          // "": no response cache
  Settings cache_config;
};

struct RateLimitResource {
  std::string name;
  uint64_t count = 0;
  std::optional<int> device;  // absent: every device
};

struct RateLimitOptions {
  RateLimitMode mode = RateLimitMode::kOff;
  std::vector<RateLimitResource> resources;
};

struct DeviceOptions {
  static constexpr uint64_t kCudaPoolBytes = uint64_t{64} << 20;  // of a device that is not listed

  uint64_t pinned_memory_pool_byte_size = uint64_t{256} << 20;
  std::map<int, uint64_t> cuda_memory_pool_byte_size;  // by device; default kCudaPoolBytes
  std::map<int, uint64_t> cuda_virtual_address_size;   // by device; default 1 GiB
  double min_supported_compute_capability = 6.0;       // 0: any device
  int buffer_manager_thread_count = 0;                 // 0: copies run on the calling thread
  std::map<std::string, Settings> host_policies;       // by policy; numa-node, cpu-cores
  std::map<int, double> model_load_gpu_limit;          // by device: fraction of its memory, 0 to 1
  ClientShm allow_client_shm = ClientShm::kNone;
};

/// All settings of the command line with their defaults.
struct ServerOptions {
  std::string id = "triton";  // some clients compare this name in the metadata
  int exit_timeout_secs = 30;
  int drain_secs = 0;  // before the exit timeout; 0: a stop refuses new work at once
  InlineExecution inline_execution = InlineExecution::kAuto;  // by measurement of each model
  CpuPlanMode cpu_plan = CpuPlanMode::kShare;
  /// Long enough for a machine that is overloaded; a stage moves within milliseconds otherwise.
  int watchdog_secs = 60;           // 0: off
  bool watchdog_liveness = false;   // a restart loses requests that still move
  int execution_watchdog_secs = 0;  // 0: off
  uint64_t max_request_memory = 0;  // bytes; 0: half of the memory that the process may use
  bool enable_sequence_listing = false;
  std::string sequence_id_header;  // whose value names sequences; "": none
  std::string replica_name;        // for the answers' field x-nereid-replica; "": none
  std::vector<std::string> sequence_handover_peers;  // [http://|https://]HOST:PORT; empty: none
  std::string sequence_handover_token_file;          // of the token that all replicas have
  unsigned unix_socket_mode = 0660;        // of the files of Unix sockets: this user and its group
  size_t max_connections_per_address = 0;  // of HTTP and gRPC together; 0: unlimited
  LogOptions log;
  RepositoryOptions repository;
  HttpOptions http;
  GrpcOptions grpc;
  AccessOptions access;
  ConsoleOptions console;
  SagemakerOptions sagemaker;
  VertexAiOptions vertex_ai;
  MetricsOptions metrics;
  TraceOptions trace;
  PluginOptions plugins;
  RateLimitOptions rate_limit;
  DeviceOptions devices;
};

}  // namespace nereid::app
