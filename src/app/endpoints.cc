// SPDX-License-Identifier: Apache-2.0
#include "app/endpoints.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "api/sequence_field.h"
#include "app/access.h"
#include "app/cloud_handlers.h"
#include "app/console_source.h"
#include "app/file_limit.h"
#include "app/trace_export.h"
#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/threads.h"
#include "base/usable_memory.h"
#include "console/console_handler.h"
#include "console/page_files.h"
#include "frontend/cloud/sagemaker_handler.h"
#include "frontend/cloud/vertex_ai_handler.h"
#include "frontend/grpc/grpc_server.h"
#include "frontend/http/cors.h"
#include "frontend/http/http_server.h"
#include "frontend/http/kserve_handler.h"
#include "frontend/metrics/metrics_handler.h"
#include "frontend/net/unix_address.h"
#include "server/inference_server.h"
#include "server/input_memory.h"
#include "tracing/request_tracer.h"

namespace nereid::app {

using base::Status;

namespace {

/// The maximum number of event loops. More loops are no faster, because most of the work is done by
/// the model instances.
constexpr int kMaxLoops = 8;

/// Spans that are queued when the server stops have at least this time to be sent. The program ends
/// a second after its exit timeout in any case.
constexpr uint64_t kMinFlushNs = 500'000'000;

frontend::grpc::CompressionLevel From(CompressionLevel level) {
  switch (level) {
    case CompressionLevel::kNone:
      return frontend::grpc::CompressionLevel::kNone;
    case CompressionLevel::kLow:
      return frontend::grpc::CompressionLevel::kLow;
    case CompressionLevel::kMedium:
      return frontend::grpc::CompressionLevel::kMedium;
    case CompressionLevel::kHigh:
      return frontend::grpc::CompressionLevel::kHigh;
  }
  return frontend::grpc::CompressionLevel::kNone;
}

/// Returns the number of event loops of a service whose flag for it is `given`; 0: not given.
int LoopsFor(int given) {
  return given > 0 ? given : std::min(base::AvailableCpuCount(), kMaxLoops);
}

std::shared_ptr<base::ByteBudget> RequestMemory(uint64_t bytes) {
  if (bytes == 0) bytes = base::UsableMemoryBytes() / 2;
  return std::make_shared<base::ByteBudget>(bytes, std::chrono::milliseconds(0));
}

/// Returns a failed start in Triton's form.
Status CannotStart(const char* service, const Status& status) {
  if (status.ok()) return status;
  return Status(status.code(), std::string("failed to start ") + service +
                                   " service: " + std::string(base::StatusCodeText(status.code())) +
                                   " - " + status.message());
}

/// `flag_prefix` names the flags in messages.
std::optional<frontend::net::TlsFiles> From(const TlsOptions& options, const char* flag_prefix) {
  if (!options.enabled) return std::nullopt;
  return frontend::net::TlsFiles{.certificate = options.server_cert,
                                 .key = options.server_key,
                                 .client_roots = options.root_cert,
                                 .mutual = options.mutual,
                                 .flag_prefix = flag_prefix};
}

api::AllowedRegions From(ClientShm allowed) {
  switch (allowed) {
    case ClientShm::kNone:
      return api::AllowedRegions::kNone;
    case ClientShm::kSent:
      return api::AllowedRegions::kSent;
    case ClientShm::kAll:
      return api::AllowedRegions::kAll;
  }
  return api::AllowedRegions::kNone;
}

frontend::http2::KeepAliveOptions KeepAliveFrom(const GrpcOptions& options) {
  using std::chrono::milliseconds;
  return {.time = milliseconds(options.keepalive_time_ms),
          .timeout = milliseconds(options.keepalive_timeout_ms),
          .permit_without_calls = options.keepalive_permit_without_calls,
          .max_pings_without_data = options.http2_max_pings_without_data,
          .min_recv_ping_interval_without_data =
              milliseconds(options.http2_min_recv_ping_interval_without_data_ms),
          .max_ping_strikes = options.http2_max_ping_strikes,
          .max_connection_age = milliseconds(options.max_connection_age_ms),
          .max_connection_age_grace = milliseconds(options.max_connection_age_grace_ms)};
}

void LogStarted(const char* service, const std::string& address, uint16_t port) {
  const bool is_unix = frontend::net::IsUnixAddress(address);
  LOG_INFO << "Started " << service << " at " << address
           << (is_unix ? std::string() : ":" + std::to_string(port));
}

/// Triton's names of a service in its messages.
struct ServiceName {
  const char* failed;   // "failed to start … service"
  const char* started;  // "Started … at"
};

Status StartServer(const ServiceName& name, const frontend::http::HttpServerOptions& options,
                   std::shared_ptr<frontend::http::HttpHandler> handler,
                   std::unique_ptr<frontend::http::HttpServer>* server) {
  *server = std::make_unique<frontend::http::HttpServer>(options, std::move(handler));
  NEREID_RETURN_IF_ERROR(CannotStart(name.failed, (*server)->Start()));
  LogStarted(name.started, options.address, (*server)->port());
  return Status::Ok();
}

/// Returns a function that asks models for memory of their inputs.
auto InputMemoryOf(server::InferenceServer& server) {
  return [&server](const std::string& model, int64_t version, size_t size) {
    return server::TakeInputMemory(server, model, version, size);
  };
}

}  // namespace

struct Endpoints::Parts {
  Parts(const ServerOptions& options, SpanExport span_export, Access who_may)
      : spans(std::move(span_export)),
        tracer(TraceSettingsFrom(options.trace), spans.exporter),
        access(std::move(who_may)),
        request_memory(RequestMemory(options.max_request_memory)),
        connections(std::make_shared<frontend::net::ConnectionLimit>(
            MaxConnections(), options.max_connections_per_address)) {}

  SpanExport spans;
  // Before the others, because the front ends use it until they are destroyed.
  tracing::RequestTracer tracer;
  const Access access;
  const std::shared_ptr<base::ByteBudget> request_memory;
  /// Limits the connections of inference clients. The metrics page has no part in it, so that it
  /// can be read when the limit is reached.
  const std::shared_ptr<frontend::net::ConnectionLimit> connections;
  std::unique_ptr<frontend::grpc::GrpcServer> grpc;
  std::unique_ptr<frontend::http::HttpServer> http;
  std::unique_ptr<frontend::http::HttpServer> metrics;
  std::unique_ptr<frontend::http::HttpServer> admin;
  std::shared_ptr<console::Console> console_handler;  // null without a console, like the next one
  std::unique_ptr<frontend::http::HttpServer> console_server;
  std::unique_ptr<frontend::http::HttpServer> sagemaker;
  std::unique_ptr<frontend::http::HttpServer> vertex_ai;

  /// Returns the servers that stop before the models are unloaded. Some may be null.
  std::array<frontend::http::HttpServer*, 5> StoppingServers() const {
    return {http.get(), sagemaker.get(), vertex_ai.get(), admin.get(), console_server.get()};
  }

  Status StartGrpc(const ServerOptions& options, server::InferenceServer& server);
  /// Returns what all servers of HTTP have in common. `port` is one that the command line accepts.
  frontend::http::HttpServerOptions HttpDoor(const ServerOptions& options,
                                             const std::string& address, int port,
                                             std::optional<frontend::net::TlsFiles> tls,
                                             const DoorAccess& door) const;
  /// The same for a server of inference clients. `threads` is 0 if it was not given.
  frontend::http::HttpServerOptions ClientDoor(const ServerOptions& options,
                                               const std::string& address, int port, int threads,
                                               const DoorAccess& door) const;
  frontend::http::KserveOptions KserveFrom(const ServerOptions& options, const DoorAccess& door,
                                           api::FrontEnd front_end);
  Status StartHttp(const ServerOptions& options, server::InferenceServer& server);
  Status StartSagemaker(const ServerOptions& options, server::InferenceServer& server);
  Status StartVertexAi(const ServerOptions& options, server::InferenceServer& server);
  Status StartAdmin(const ServerOptions& options, api::InferenceService& service);
  Status StartConsole(const ServerOptions& options, server::InferenceServer& server);
  Status StartMetrics(const ServerOptions& options, server::InferenceServer& server);
};

Status Endpoints::Parts::StartGrpc(const ServerOptions& options, server::InferenceServer& server) {
  frontend::grpc::GrpcOptions from;
  from.address = options.grpc.address;
  from.port = static_cast<uint16_t>(options.grpc.port);
  from.reuse_port = options.grpc.reuse_port;
  from.unix_socket_mode = options.unix_socket_mode;
  from.loops = LoopsFor(options.grpc.infer_thread_count);
  from.max_waiting_responses = static_cast<size_t>(options.grpc.max_response_pool_size);
  from.response_compression = From(options.grpc.compression_level);
  from.run_inline = options.inline_execution != InlineExecution::kNever;
  from.access_log = options.log.access;
  from.tracer = &tracer;
  from.gate = access.grpc.gate;
  from.kept_fields = access.grpc.kept_fields;
  from.sequence_field = options.sequence_id_header;
  from.replica = options.replica_name;
  from.receive_budget = request_memory;
  from.connection_limit = connections;
  from.tls = From(options.grpc.tls, "--grpc-");
  from.keep_alive = KeepAliveFrom(options.grpc);
  from.take_input_memory = InputMemoryOf(server);
  grpc = std::make_unique<frontend::grpc::GrpcServer>(from, server);
  NEREID_RETURN_IF_ERROR(CannotStart("GRPC", grpc->Start()));
  LogStarted("GRPCInferenceService", from.address, grpc->port());
  return Status::Ok();
}

frontend::http::KserveOptions Endpoints::Parts::KserveFrom(const ServerOptions& options,
                                                           const DoorAccess& door,
                                                           api::FrontEnd front_end) {
  frontend::http::KserveOptions kserve;
  kserve.max_input_size = static_cast<uint64_t>(options.http.max_input_size);
  kserve.run_inline = options.inline_execution != InlineExecution::kNever;
  kserve.tracer = &tracer;
  kserve.receive_budget = request_memory;
  kserve.gate = door.gate;
  kserve.front_end = front_end;
  return kserve;
}

frontend::http::HttpServerOptions Endpoints::Parts::HttpDoor(
    const ServerOptions& options, const std::string& address, int port,
    std::optional<frontend::net::TlsFiles> tls, const DoorAccess& door) const {
  frontend::http::HttpServerOptions from;
  from.address = address;
  from.port = static_cast<uint16_t>(port);
  from.unix_socket_mode = options.unix_socket_mode;
  from.receives_descriptors = options.devices.allow_client_shm != ClientShm::kNone;
  from.access_log = options.log.access;
  from.receive_budget = request_memory;
  from.tls = std::move(tls);
  from.kept_fields = door.kept_fields;
  from.identifies_peers = access.identifies_peers;
  return from;
}

frontend::http::HttpServerOptions Endpoints::Parts::ClientDoor(const ServerOptions& options,
                                                               const std::string& address, int port,
                                                               int threads,
                                                               const DoorAccess& door) const {
  auto from = HttpDoor(options, address, port, From(options.http.tls, "--http-"), door);
  if (!options.http.cors_origins.empty()) {
    from.cors = std::make_shared<frontend::http::CorsPolicy>(options.http.cors_origins);
  }
  from.threads = LoopsFor(threads);
  from.connection_limit = connections;
  from.keep_trace_headers = tracer.reads_headers();
  return from;
}

Status Endpoints::Parts::StartHttp(const ServerOptions& options, server::InferenceServer& server) {
  auto from = ClientDoor(options, options.http.address, options.http.port,
                         options.http.thread_count, access.http);
  from.reuse_port = options.http.reuse_port;
  if (!options.replica_name.empty()) {
    from.server_fields = std::string(api::kReplicaField) + ": " + options.replica_name + "\r\n";
  }
  frontend::http::KserveOptions kserve = KserveFrom(options, access.http, api::FrontEnd::kHttp);
  kserve.sequence_field = options.sequence_id_header;
  kserve.take_input_memory = InputMemoryOf(server);
  return StartServer({"HTTP", "HTTPService"}, from,
                     frontend::http::MakeKserveHandler(kserve, server), &http);
}

Status Endpoints::Parts::StartSagemaker(const ServerOptions& options,
                                        server::InferenceServer& server) {
  auto from = ClientDoor(options, options.sagemaker.address, options.sagemaker.port,
                         options.sagemaker.thread_count, access.sagemaker);
  from.thread_name = "sagemaker";
  from.binary_type = frontend::cloud::kSagemakerBinaryType;
  return StartServer(
      {"Sagemaker", "Sagemaker HTTPService"}, from,
      MakeSagemaker(options, KserveFrom(options, access.sagemaker, api::FrontEnd::kSagemaker),
                    server),
      &sagemaker);
}

Status Endpoints::Parts::StartVertexAi(const ServerOptions& options,
                                       server::InferenceServer& server) {
  auto from = ClientDoor(options, options.vertex_ai.address, options.vertex_ai.port,
                         options.vertex_ai.thread_count, access.vertex_ai);
  from.thread_name = "vertex-ai";
  from.binary_type = frontend::cloud::kVertexAiBinaryType;
  auto handler = MakeVertexAi(
      options, KserveFrom(options, access.vertex_ai, api::FrontEnd::kVertexAi), server);
  NEREID_RETURN_IF_ERROR(CannotStart("Vertex AI", handler.status()));
  return StartServer({"Vertex AI", "Vertex AI HTTPService"}, from, std::move(handler).value(),
                     &vertex_ai);
}

// Its connections do not count with those of inference clients, so that the server can be managed
// when their limit is reached.
Status Endpoints::Parts::StartAdmin(const ServerOptions& options, api::InferenceService& service) {
  auto from = HttpDoor(options, options.access.admin_address, *options.access.admin_port,
                       From(options.http.tls, "--http-"), access.admin);
  from.threads = 1;
  from.thread_name = "admin";
  from.keep_trace_headers = tracer.reads_headers();
  return StartServer({"management", "Management Service"}, from,
                     frontend::http::MakeKserveHandler(
                         KserveFrom(options, access.admin, api::FrontEnd::kManagement), service),
                     &admin);
}

// Its connections do not count with those of inference clients, so that the server can be seen when
// their limit is reached.
Status Endpoints::Parts::StartConsole(const ServerOptions& options,
                                      server::InferenceServer& server) {
  base::Log::Instance().KeepTail();
  auto from = HttpDoor(options, options.console.address, *options.console.port,
                       From(options.http.tls, "--http-"), access.console);
  from.threads = 1;
  from.thread_name = "console-http";
  from.keep_trace_headers = true;
  from.max_waiting_bytes = console::kMaxWaitingBytes;
  from.server_fields = console::BrowserRules();
  console::ConsoleOptions console_options;
  console_options.kserve = KserveFrom(options, access.console, api::FrontEnd::kConsole);
  console_options.is_guarded = !options.access.auth_file.empty();
  console_options.serves_management = !options.access.admin_port.has_value();
  console_handler =
      console::MakeConsole(std::move(console_options), server,
                           ConsoleSourceFrom(server, options.repository.model_config_name));
  NEREID_RETURN_IF_ERROR(CannotStart("console", console_handler->Start()));
  return StartServer({"console", "Console"}, from, console_handler, &console_server);
}

Status Endpoints::Parts::StartMetrics(const ServerOptions& options,
                                      server::InferenceServer& server) {
  auto from = HttpDoor(options, options.metrics.address, options.metrics.port,
                       From(options.metrics.tls, "--metrics-"), access.metrics);
  from.threads = 1;
  from.thread_name = "metrics";
  from.max_body_size = size_t{64} << 10;  // requests for metrics have no body
  return StartServer(
      {"Metrics", "Metrics Service"}, from,
      frontend::metrics::MakeMetricsHandler(
          [&server](telemetry::Exposition format) { return server.RenderMetrics(format); },
          access.metrics.gate),
      &metrics);
}

Endpoints::Endpoints(server::InferenceServer& server) : server_(server) {}

Endpoints::~Endpoints() {
  if (parts_ != nullptr) server_.ReplaceTraceControl(&parts_->tracer, nullptr);
}

Status Endpoints::Start(const ServerOptions& options) {
  NEREID_ASSIGN_OR_RETURN(Access access, MakeAccess(options));
  NEREID_ASSIGN_OR_RETURN(SpanExport spans,
                          StartSpanExport(options.trace, server_.GetServerMetadata().version));
  parts_ = std::make_unique<Parts>(options, std::move(spans), std::move(access));
  server_.ReplaceTraceControl(nullptr, &parts_->tracer);
  NEREID_RETURN_IF_ERROR(server_.shared_memory().Allow(From(options.devices.allow_client_shm),
                                                       {.regions = MaxSharedRegions()}));
  if (options.grpc.enabled) NEREID_RETURN_IF_ERROR(parts_->StartGrpc(options, server_));
  if (options.http.enabled) NEREID_RETURN_IF_ERROR(parts_->StartHttp(options, server_));
  if (options.sagemaker.enabled) {
    NEREID_RETURN_IF_ERROR(parts_->StartSagemaker(options, server_));
  }
  if (options.vertex_ai.enabled) NEREID_RETURN_IF_ERROR(parts_->StartVertexAi(options, server_));
  if (options.access.admin_port) NEREID_RETURN_IF_ERROR(parts_->StartAdmin(options, server_));
  if (options.console.port) NEREID_RETURN_IF_ERROR(parts_->StartConsole(options, server_));
  if (options.metrics.enabled) {
    NEREID_RETURN_IF_ERROR(parts_->StartMetrics(options, server_));
  }
  return Status::Ok();
}

uint16_t Endpoints::port(Service service) const {
  if (parts_ == nullptr) return 0;
  const auto port_of = [](const auto& server) -> uint16_t {
    return server == nullptr ? 0 : server->port();
  };
  switch (service) {
    case Service::kHttp:
      return port_of(parts_->http);
    case Service::kGrpc:
      return port_of(parts_->grpc);
    case Service::kMetrics:
      return port_of(parts_->metrics);
  }
  return 0;
}

void Endpoints::BeginStop() {
  if (parts_ == nullptr) return;
  if (parts_->console_handler != nullptr) parts_->console_handler->EndStreams();
  for (frontend::http::HttpServer* server : parts_->StoppingServers()) {
    if (server != nullptr) server->BeginStop();
  }
  if (parts_->grpc != nullptr) parts_->grpc->BeginStop();
}

void Endpoints::Stop(uint64_t deadline_ns) {
  if (parts_ == nullptr) return;
  BeginStop();
  const auto left_ms = [deadline_ns] {
    const uint64_t now_ns = base::SteadyClock().NowNs();
    return deadline_ns > now_ns ? (deadline_ns - now_ns) / 1'000'000 : 0;
  };
  for (frontend::http::HttpServer* server : parts_->StoppingServers()) {
    if (server != nullptr) server->Stop(std::chrono::milliseconds(left_ms()));
  }
  if (parts_->grpc != nullptr) parts_->grpc->Stop(left_ms());
  // Last, because the span of a request ends when its response is sent.
  parts_->spans.Stop(std::max(deadline_ns, base::SteadyClock().NowNs() + kMinFlushNs));
}

}  // namespace nereid::app
