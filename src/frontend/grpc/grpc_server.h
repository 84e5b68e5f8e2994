// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "api/inference_service.h"
#include "base/result.h"
#include "frontend/grpc/grpc_options.h"

namespace nereid::frontend::grpc {

/// The gRPC front end: GRPCInferenceService, health and reflection over HTTP/2 without TLS.
class GrpcServer {
 public:
  /// `service` must outlive the server, and every request that the server submitted.
  GrpcServer(GrpcOptions options, api::InferenceService& service);
  /// Stops at once if still running.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  /// Binds and begins to serve. UNAVAILABLE "Socket 'A:P' already in use " if another process
  /// listens there; INVALID_ARGUMENT for an address that is none. Call once.
  base::Status Start();

  /// The port that is served; valid after Start().
  uint16_t port() const;

  /// Takes no new calls, and ends those that nothing is being done for: streams without a request
  /// in flight, and half requests. Does not wait.
  void BeginStop();

  /// The same, and lets the other calls finish until `timeout_ms` is over, then cancels them and
  /// closes the connections. Blocks; later calls do nothing. Not from a thread of the server.
  void Stop(uint64_t timeout_ms);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace nereid::frontend::grpc
