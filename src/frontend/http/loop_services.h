// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "frontend/http/deadline_sink.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/http_options.h"
#include "frontend/http/reply_stream.h"

namespace nereid::frontend::http {

class Connection;

/// The timeouts of the options in ticks of a loop.
struct TimeoutTicks {
  explicit TimeoutTicks(const HttpServerOptions& options);
  std::chrono::milliseconds tick;
  uint64_t head, stall, idle, half_closed, linger;
};

/// What a connection sees of the event loop that it lives on; apart from the loop, which knows
/// connections. All functions but Complete() on the loop's own thread.
class LoopServices {
 public:
  LoopServices(const HttpServerOptions& options, std::shared_ptr<HttpHandler> handler);
  LoopServices(const LoopServices&) = delete;
  LoopServices& operator=(const LoopServices&) = delete;

  /// An answer that is there, and the sink that it went through, if not the connection itself; or a
  /// piece of an answer.
  struct Completion {
    std::shared_ptr<Connection> connection;
    std::shared_ptr<DeadlineSink> sink;
    std::shared_ptr<ReplyStream> stream;
  };
  /// Any thread: has the connection's OnCompleted() or OnStream() called on the loop's thread,
  /// soon.
  virtual void Complete(Completion completion) noexcept = 0;

  const HttpServerOptions& options() const { return options_; }
  HttpHandler& handler() { return *handler_; }
  const TimeoutTicks& timeouts() const { return timeouts_; }
  uint64_t tick() const { return tick_; }
  bool draining() const { return draining_; }
  /// Runs `step` for a connection. What it throws (memory that ran out) ends that connection, never
  /// the process.
  template <typename Client, typename Step>
  static void Protect(Client& connection, Step&& step) noexcept {
    try {
      step();
    } catch (const std::exception& failure) {
      ReportFailure(failure.what());
      connection.Close();
    }
  }
  /// Logs what a request failed of that nobody foresaw; now and then, not every time.
  static void ReportFailure(const char* what) noexcept;

  /// Where sockets are read into before anybody knows whose bytes they are.
  std::vector<char>& scratch() { return scratch_; }
  /// Forgets a connection that is closed.
  virtual void Remove(Connection* connection) = 0;

  /// While one lives on the loop's thread, completions are collected; the outermost one runs them.
  class DispatchScope {
   public:
    explicit DispatchScope(LoopServices& loop) : loop_(loop) { ++loop_.dispatch_depth_; }
    ~DispatchScope() {
      if (--loop_.dispatch_depth_ == 0) loop_.RunCompletions();
    }
    DispatchScope(const DispatchScope&) = delete;

   private:
    LoopServices& loop_;
  };

 protected:
  virtual ~LoopServices();
  virtual void RunCompletions() = 0;

  const HttpServerOptions options_;
  const std::shared_ptr<HttpHandler> handler_;
  const TimeoutTicks timeouts_;
  std::vector<char> scratch_;
  int dispatch_depth_ = 0;
  uint64_t tick_ = 1;
  bool draining_ = false;
};

}  // namespace nereid::frontend::http
