// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "load/connection.h"

namespace nereid::load {

/// The connections of a run and the loop of their events. Used by one thread.
class LoadLoop {
 public:
  /// `run` must outlive the object; its target is resolved.
  LoadLoop(Run& run, size_t connections);
  ~LoadLoop();
  LoadLoop(const LoadLoop&) = delete;
  LoadLoop& operator=(const LoadLoop&) = delete;

  /// Opens all connections. Returns false if the server does not accept them; error() says why.
  bool Connect();

  /// Keeps a request in flight on every connection from now on.
  void StartClosed();
  /// Sends a request at each time that `next_due_ns` returns, in order, from now on. A request that
  /// finds no idle connection is sent later, but its latency counts from the time when it was due.
  void StartScheduled(std::function<uint64_t()> next_due_ns);
  /// Handles events until then. Returns false if the server takes no connections any more or
  /// answers with errors alone; error() says why.
  bool RunUntil(uint64_t end_ns);
  /// Sends no more requests and waits for the answers, at most for `patience_ns`. Returns false if
  /// some are missing.
  bool Drain(uint64_t patience_ns);

  /// Called in each turn; if it returns true, RunUntil and Drain return false. May be empty.
  void SetStop(std::function<bool()> is_stopped) { is_stopped_ = std::move(is_stopped); }

  const std::string& error() const { return error_; }
  /// Returns the most requests that were due and not sent, since the last call.
  size_t TakeMostLate();

 private:
  bool Open(size_t index);
  bool Poll(uint64_t end_ns);
  void SendDue(uint64_t now_ns);
  bool Fail(std::string why);

  Run& run_;
  const int epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::function<bool()> is_stopped_;
  // Of StartScheduled.
  std::function<uint64_t()> next_due_ns_;
  uint64_t due_ns_ = 0;        // the next one; 0: none
  std::deque<uint64_t> late_;  // due and not sent
  size_t most_late_ = 0;
  std::vector<size_t> idle_;
  std::string error_;
};

}  // namespace nereid::load
