// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "api/access/operation.h"
#include "frontend/http/exchange.h"
#include "frontend/http/off_loop.h"

namespace nereid::frontend::http {

/// The threads that carry out operations: a pool for each api::Cost, so that none waits for the
/// others. Thread-safe, except for Stop().
class OperationPools {
 public:
  /// Runs `work` where operations of this cost belong, and then finishes the exchange: on the
  /// calling event loop, or as OffLoop::Run().
  void Run(Exchange& exchange, api::Operation operation, std::function<void()> work);

  /// Drops the work that has not begun, and waits for the rest.
  void Stop();

 private:
  static constexpr size_t kMaxTableThreads = 4;
  static constexpr size_t kMaxPluginThreads = 8;
  static constexpr size_t kMaxSequenceThreads = 4;
  static constexpr size_t kMaxLoadThreads = 8;
  static constexpr size_t kMaxWaitingLoads = 4096;

  OffLoop tables_{"http-documents", kMaxTableThreads};
  OffLoop plugins_{"http-ready", kMaxPluginThreads};
  OffLoop sequences_{"http-sequences", kMaxSequenceThreads};
  OffLoop loads_{"http-loads", kMaxLoadThreads, kMaxWaitingLoads, base::PoolWork::kInBackground};
};

}  // namespace nereid::frontend::http
