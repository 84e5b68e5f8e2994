// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "base/blocking_workers.h"
#include "base/status.h"
#include "frontend/http/exchange.h"

namespace nereid::frontend::http {

/// Threads for the work of exchanges that would delay an event loop: work that may block (the file
/// system, loading a model) or takes long (large JSON, compression). Thread-safe, except for
/// Stop().
class OffLoop {
 public:
  /// Starts up to `max_threads` threads when they are needed. At most `max_waiting` exchanges wait
  /// for one of them.
  OffLoop(std::string thread_name, size_t max_threads, size_t max_waiting = 4096,
          base::PoolWork work = base::PoolWork::kMayWait)
      : workers_(std::move(thread_name), max_threads, SIZE_MAX, work), max_waiting_(max_waiting) {}

  /// Runs `work` on another thread, and then finishes the exchange. `work` may use the request and
  /// the reply of the exchange. It is not run if the client has gone by then. If it throws, or if
  /// it cannot be run because too many exchanges wait, the reply is 503.
  void Run(Exchange& exchange, std::function<void()> work);

  /// Drops the work that has not begun, and waits for the rest.
  void Stop() { workers_.Stop(); }

 private:
  base::BlockingWorkers workers_;
  const size_t max_waiting_;
  std::atomic<size_t> waiting_{0};
};

}  // namespace nereid::frontend::http
