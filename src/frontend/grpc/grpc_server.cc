// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/grpc_server.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "frontend/grpc/loop.h"
#include "frontend/grpc/method_table.h"
#include "frontend/grpc/protobuf_log.h"
#include "frontend/grpc/server_context.h"
#include "frontend/net/server.h"

namespace nereid::frontend::grpc {
namespace {

/// A client without ALPN is refused, as the servers of the gRPC project do it.
std::optional<net::TlsSettings> TlsOf(const GrpcOptions& options) {
  if (!options.tls) return std::nullopt;
  return net::TlsSettings{
      .files = *options.tls, .service = "gRPC", .protocols = {"h2"}, .protocol_is_required = true};
}

net::ServerOptions NetOptions(const GrpcOptions& options) {
  return {.service = "gRPC",
          .thread_name = "grpc",
          .address = options.address,
          .port = options.port,
          .reuse_port = options.reuse_port,
          .unix_socket_mode = options.unix_socket_mode,
          .loops = options.loops,
          .connection_limit = options.connection_limit,
          .tls = TlsOf(options)};
}

}  // namespace

class GrpcServer::State {
 public:
  State(GrpcOptions options, api::InferenceService& service, CallMaker make_call)
      : context_{.options = std::move(options), .service = service, .make_call = make_call},
        server_(NetOptions(context_.options),
                [this](net::ServerLoop& loop) { return std::make_shared<Loop>(context_, loop); }) {}

  base::Status Start() {
    TakeOverProtobufLog();
    return server_.Start();
  }

  void BeginStop() {
    context_.stopping.store(true);
    server_.BeginStop();
  }

  void Stop(uint64_t timeout_ms) {
    context_.stopping.store(true);
    server_.Stop(std::chrono::milliseconds(std::min<uint64_t>(timeout_ms, INT64_MAX)));
    context_.workers.Stop();
    context_.queries.Stop();
    context_.readiness.Stop();
    context_.detours->Stop();
  }

  uint16_t port() const { return server_.port(); }

 private:
  ServerContext context_;
  net::Server server_;
};

GrpcServer::GrpcServer(GrpcOptions options, api::InferenceService& service)
    : GrpcServer(std::move(options), service, &MakeCall) {}
GrpcServer::GrpcServer(GrpcOptions options, api::InferenceService& service, CallMaker make_call)
    : state_(std::make_unique<State>(std::move(options), service, make_call)) {}
GrpcServer::~GrpcServer() { state_->Stop(0); }
base::Status GrpcServer::Start() { return state_->Start(); }
uint16_t GrpcServer::port() const { return state_->port(); }
void GrpcServer::BeginStop() { state_->BeginStop(); }
void GrpcServer::Stop(uint64_t timeout_ms) { state_->Stop(timeout_ms); }

}  // namespace nereid::frontend::grpc
