// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "api/inference_service.h"
#include "base/blocking_workers.h"
#include "frontend/grpc/grpc_server.h"

namespace nereid::frontend::grpc {

/// How many models can be loading at once at the wish of gRPC clients.
inline constexpr size_t kMaxBlockingThreads = 4;

/// What every call of a server shares.
struct ServerContext {
  const GrpcOptions options;
  api::InferenceService& service;
  base::BlockingWorkers workers{"grpc-blocking", kMaxBlockingThreads};
  std::atomic<bool> stopping{false};
};

}  // namespace nereid::frontend::grpc
