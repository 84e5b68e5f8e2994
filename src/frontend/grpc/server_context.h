// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "api/inference_service.h"
#include "frontend/grpc/blocking_workers.h"
#include "frontend/grpc/grpc_server.h"

namespace nereid::frontend::grpc {

/// What every call of a server shares.
struct ServerContext {
  const GrpcOptions options;
  api::InferenceService& service;
  BlockingWorkers workers;
  std::atomic<bool> stopping{false};
};

}  // namespace nereid::frontend::grpc
