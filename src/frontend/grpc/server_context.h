// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "api/inference_service.h"
#include "base/blocking_workers.h"
#include "base/byte_budget.h"
#include "frontend/grpc/grpc_options.h"

namespace nereid::frontend::grpc {

/// How many models can be loading at once at the wish of gRPC clients.
inline constexpr size_t kMaxBlockingThreads = 4;
/// How many threads answer what reads files, or tells of all models.
inline constexpr size_t kMaxQueryThreads = 2;
/// How many requests may wait for either.
inline constexpr size_t kMaxBlockedCalls = 1024;

/// Short work that is too long for an event loop: how many threads do it at once, how much waits.
inline constexpr size_t kMaxDetourThreads = 4;
inline constexpr size_t kMaxWaitingDetours = 1024;

/// Bytes of answers of small methods and of reflection that may wait for all clients together.
inline constexpr size_t kMaxSmallAnswers = size_t{64} << 20;

/// What every call of a server shares.
struct ServerContext {
  const GrpcOptions options;
  api::InferenceService& service;
  base::BlockingWorkers workers{"grpc-blocking", kMaxBlockingThreads, kMaxBlockedCalls};
  /// Apart from the above, where loads take minutes.
  base::BlockingWorkers queries{"grpc-queries", kMaxQueryThreads, kMaxBlockedCalls};
  // Calls may outlive the server.
  const std::shared_ptr<base::BlockingWorkers> detours =
      std::make_shared<base::BlockingWorkers>("grpc-detour", kMaxDetourThreads, kMaxWaitingDetours);
  const std::shared_ptr<base::ByteBudget> small_answers =
      std::make_shared<base::ByteBudget>(kMaxSmallAnswers, std::chrono::milliseconds(0));
  std::atomic<bool> stopping{false};
};

}  // namespace nereid::frontend::grpc
