// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>

#include "api/access/operation.h"
#include "api/inference_service.h"
#include "base/blocking_workers.h"
#include "base/byte_budget.h"
#include "base/cpus.h"
#include "frontend/grpc/grpc_options.h"
#include "frontend/grpc/shared_readiness.h"
#include "frontend/http2/session_options.h"

namespace nereid::frontend::grpc {

/// The maximum number of models that load at the same time for gRPC clients.
inline constexpr size_t kMaxBlockingThreads = 4;
/// The maximum number of threads for operations that read files or report on all models.
inline constexpr size_t kMaxQueryThreads = 4;
/// Threads that ask models whether they are ready, which a plug-in may answer.
inline constexpr size_t kMaxReadinessThreads = 8;
/// The maximum number of calls that wait for a thread of either kind.
inline constexpr size_t kMaxBlockedCalls = 1024;

/// The maximum numbers of threads for, and of waiting pieces of, work that takes milliseconds: too
/// long for an event loop. It only computes, so more threads than CPUs would do no more of it.
inline constexpr int kMaxDetourThreads = 4;
inline constexpr size_t kMaxWaitingDetours = 1024;

/// The maximum bytes of responses without tensors that wait for all clients together.
inline constexpr size_t kMaxSmallAnswers = size_t{64} << 20;

/// Returns the part of the options that limits connections.
inline http2::SessionOptions SessionOptionsOf(const GrpcOptions& options) {
  return {.max_concurrent_streams = options.max_concurrent_streams,
          .max_head_size = options.max_metadata_size,
          .keep_alive = options.keep_alive,
          .stall_timeout = options.stall_timeout,
          .head_timeout = options.stall_timeout,
          .receive_budget = options.receive_budget};
}

class Call;
struct CallOrigin;
struct CallStatus;

/// Returns a call of the method that `origin.head.path` names. Returns null, and sets `refusal`, if
/// there is no such method.
using CallMaker = std::shared_ptr<Call> (*)(const CallOrigin& origin, CallStatus* refusal);

/// The state that all calls of a server share. Of the pools, WorkersFor() chooses.
struct ServerContext {
  const GrpcOptions options;
  api::InferenceService& service;
  const CallMaker make_call = nullptr;  // the methods
  const http2::SessionOptions session_options = SessionOptionsOf(options);
  SharedReadiness watched{service};  // before the pool that runs its questions
  base::BlockingWorkers workers{"grpc-blocking", kMaxBlockingThreads, kMaxBlockedCalls,
                                base::PoolWork::kInBackground};
  /// Not the same threads as `workers`, where a load takes minutes.
  base::BlockingWorkers queries{"grpc-queries", kMaxQueryThreads, kMaxBlockedCalls};
  base::BlockingWorkers readiness{"grpc-ready", kMaxReadinessThreads, kMaxBlockedCalls};
  // Calls may outlive the server.
  const std::shared_ptr<base::BlockingWorkers> detours = std::make_shared<base::BlockingWorkers>(
      "grpc-detour", static_cast<size_t>(std::min(base::AvailableCpuCount(), kMaxDetourThreads)),
      kMaxWaitingDetours, base::PoolWork::kComputes);
  const std::shared_ptr<base::ByteBudget> small_answers =
      std::make_shared<base::ByteBudget>(kMaxSmallAnswers, std::chrono::milliseconds(0));
  std::atomic<bool> stopping{false};

  /// Returns the threads that carry out an operation, by its cost; null: the event loops.
  base::BlockingWorkers* WorkersFor(api::Operation operation) {
    switch (api::FactsOf(operation).cost) {
      case api::Cost::kRunsOnLoop:
        return nullptr;
      case api::Cost::kAsksTables:
      case api::Cost::kMovesSequences:  // no gRPC method does
        return &queries;
      case api::Cost::kAsksPlugins:
        return &readiness;
      case api::Cost::kLoads:
        return &workers;
    }
    return &workers;
  }
};

}  // namespace nereid::frontend::grpc
