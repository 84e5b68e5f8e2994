// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "frontend/net/listener.h"

namespace nereid::frontend::grpc {

struct ServerContext;

/// One thread with its listening socket and its connections.
class EventLoop {
 public:
  /// `on_drained` is called on the loop's thread when, while shutting down, its last connection is
  /// gone.
  EventLoop(ServerContext& context, std::function<void()> on_drained);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// Binds a listening socket (SO_REUSEPORT) and returns its port. Before Run().
  base::Result<net::Endpoint> Listen(const net::Endpoint& endpoint);

  /// Serves until Stop(). The calling thread becomes the loop's thread.
  void Run();

  /// Stops listening and asks every connection to end. Any thread.
  void Shutdown();

  /// Ends Run() after all connections are closed. Any thread.
  void Stop();

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

}  // namespace nereid::frontend::grpc
