// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "api/inference_service.h"
#include "base/result.h"
#include "frontend/grpc/grpc_options.h"
#include "frontend/grpc/server_context.h"

namespace nereid::frontend::grpc {

/// The gRPC front end: GRPCInferenceService, health and reflection over HTTP/2, with or without
/// TLS.
class GrpcServer {
 public:
  /// `service` must outlive the server, and every request that the server submitted.
  GrpcServer(GrpcOptions options, api::InferenceService& service);
  /// The same with other methods than those of MakeCall(), for tests of the layer below them.
  GrpcServer(GrpcOptions options, api::InferenceService& service, CallMaker make_call);
  /// Stops at once if still running.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  /// Listens and begins to serve; see net::Server::Start() for the errors. Once.
  base::Status Start();

  /// Returns the port that is served, after Start().
  uint16_t port() const;

  /// Refuses new calls, and ends idle ones: streams without a request in flight, and calls whose
  /// request is not complete. Does not wait.
  void BeginStop();

  /// The same, and waits up to `timeout_ms` for the other calls; then cancels them and closes the
  /// connections. Blocks until the threads have ended. A second call does nothing. Not on a thread
  /// of the server.
  void Stop(uint64_t timeout_ms);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace nereid::frontend::grpc
