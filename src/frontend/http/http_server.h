// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/http_options.h"

namespace nereid::frontend::http {

/// A server of HTTP/1.1 and HTTP/2: event loops with one listening socket each, among which the
/// kernel spreads the connections. Keep-alive, pipelining, chunked and streamed bodies,
/// gather-write out. HTTP/2 by ALPN or, in the clear, by prior knowledge.
class HttpServer {
 public:
  /// `handler` must outlive every request that it submitted to the core.
  HttpServer(const HttpServerOptions& options, std::shared_ptr<HttpHandler> handler);
  ~HttpServer();  // stops at once

  /// Listens and begins to serve; see net::Server::Start() for the errors.
  base::Status Start();

  /// Returns the port that is served, after Start().
  uint16_t port() const;

  /// Stops accepting, and closes the connections whose clients are not being answered: idle ones,
  /// and those with half a request. Does not wait.
  void BeginStop();

  /// The same, and waits up to `grace` for the other connections; then closes them. Blocks until
  /// the threads have ended. A second call does nothing.
  void Stop(std::chrono::milliseconds grace);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace nereid::frontend::http
