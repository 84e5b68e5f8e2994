// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "base/blocking_workers.h"
#include "base/status.h"
#include "frontend/http/exchange.h"

namespace nereid::frontend::http {

/// Does for exchanges what would hold an event loop up: what may block (the file system, loading a
/// model) and what takes long (large JSON, compression). Thread-safe but for Stop().
class OffLoop {
 public:
  /// At most `max_waiting` exchanges wait for one of `max_threads` threads.
  OffLoop(std::string thread_name, size_t max_threads, size_t max_waiting = 4096)
      : workers_(std::move(thread_name), max_threads), max_waiting_(max_waiting) {}

  /// Runs `work`, which may use the exchange but not its connection, on another thread and then
  /// finishes the exchange; where the client has gone before that, without `work`. What `work`
  /// throws becomes an answer of 503. Where it cannot be run the exchange is answered so at once,
  /// without `work`.
  void Run(Exchange& exchange, std::function<void()> work);

  /// Drops what has not begun, waits for the rest.
  void Stop() { workers_.Stop(); }

 private:
  base::BlockingWorkers workers_;
  const size_t max_waiting_;
  std::atomic<size_t> waiting_{0};
};

}  // namespace nereid::frontend::http
