// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "api/inference_service.h"
#include "base/blocking_workers.h"
#include "frontend/grpc/grpc_server.h"

namespace nereid::frontend::grpc {

/// How many models can be loading at once at the wish of gRPC clients.
inline constexpr size_t kMaxBlockingThreads = 4;
/// How many threads answer what reads files, or tells of all models.
inline constexpr size_t kMaxQueryThreads = 2;
/// How many requests may wait for either.
inline constexpr size_t kMaxBlockedCalls = 1024;

/// What every call of a server shares.
struct ServerContext {
  const GrpcOptions options;
  api::InferenceService& service;
  base::BlockingWorkers workers{"grpc-blocking", kMaxBlockingThreads, kMaxBlockedCalls};
  /// Apart from the above, where loads take minutes.
  base::BlockingWorkers queries{"grpc-queries", kMaxQueryThreads, kMaxBlockedCalls};
  std::atomic<bool> stopping{false};
};

}  // namespace nereid::frontend::grpc
