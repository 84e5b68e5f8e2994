// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/http_server.h"

#include <optional>
#include <utility>

#include "frontend/http/loop.h"
#include "frontend/net/server.h"

namespace nereid::frontend::http {
namespace {

std::optional<net::TlsSettings> TlsOf(const HttpServerOptions& options) {
  if (!options.tls) return std::nullopt;
  return net::TlsSettings{
      .files = *options.tls, .service = "HTTP", .protocols = {"h2", "http/1.1", "http/1.0"}};
}

net::ServerOptions NetOptions(const HttpServerOptions& options) {
  return {.service = "HTTP",
          .thread_name = options.thread_name,
          .address = options.address,
          .port = options.port,
          .reuse_port = options.reuse_port,
          .unix_socket_mode = options.unix_socket_mode,
          .loops = options.threads,
          .connection_limit = options.connection_limit,
          .tls = TlsOf(options)};
}

}  // namespace

class HttpServer::State {
 public:
  State(const HttpServerOptions& options, std::shared_ptr<HttpHandler> handler)
      : handler_(std::move(handler)),
        server_(NetOptions(options), [options, handler = handler_](net::ServerLoop& loop) {
          return std::make_shared<Loop>(loop, options, handler);
        }) {}

  net::Server& server() { return server_; }

  void Stop(std::chrono::milliseconds grace) {
    server_.Stop(grace);
    handler_->Stop();
  }

 private:
  const std::shared_ptr<HttpHandler> handler_;
  net::Server server_;
};

HttpServer::HttpServer(const HttpServerOptions& options, std::shared_ptr<HttpHandler> handler)
    : state_(std::make_unique<State>(options, std::move(handler))) {}

HttpServer::~HttpServer() { Stop(std::chrono::milliseconds{0}); }

base::Status HttpServer::Start() { return state_->server().Start(); }

uint16_t HttpServer::port() const { return state_->server().port(); }

void HttpServer::BeginStop() { state_->server().BeginStop(); }

void HttpServer::Stop(std::chrono::milliseconds grace) { state_->Stop(grace); }

}  // namespace nereid::frontend::http
