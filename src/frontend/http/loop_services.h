// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/http/http_handler.h"
#include "frontend/http/http_options.h"
#include "frontend/http2/flush_list.h"
#include "frontend/http2/session_options.h"
#include "frontend/net/server_loop.h"

namespace nereid::frontend::http {

/// The timeouts of the options in ticks of a loop.
struct TimeoutTicks {
  explicit TimeoutTicks(const HttpServerOptions& options);
  std::chrono::milliseconds tick;
  uint64_t head, stall, idle, half_closed, linger;
};

/// What the connections of one event loop share. Connections keep it alive, so that a late response
/// of the core finds it when the server has gone. All functions but Complete() are for the loop's
/// thread.
class LoopServices {
 public:
  LoopServices(net::ServerLoop& server_loop, const HttpServerOptions& options,
               std::shared_ptr<HttpHandler> handler);
  LoopServices(const LoopServices&) = delete;
  LoopServices& operator=(const LoopServices&) = delete;

  /// Has the loop run a task that completes a reply, soon; drops it if the loop has ended. Takes no
  /// memory. Any thread.
  void Complete(net::Task& task, std::shared_ptr<void> owner) noexcept;

  net::EventLoop& event_loop() { return server_loop_.event_loop(); }
  const HttpServerOptions& options() const { return options_; }
  HttpHandler& handler() { return *handler_; }
  /// Returns the fields of each reply, as whole lines. Valid until the next call.
  std::string_view server_fields();
  /// Returns whether the connections have to record when requests are received.
  bool WantsTimes() const { return options_.access_log || handler_->WantsTimes(); }
  const TimeoutTicks& timeouts() const { return timeouts_; }
  /// Ticks that have passed.
  uint64_t tick() const { return tick_; }
  bool draining() const { return draining_; }
  /// Runs `step` for a connection. An exception (memory that ran out) ends that connection, never
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
  /// Serves a connection in answer to an event: like Protect, within a DispatchScope.
  template <typename Client, typename Step>
  void Serve(Client& connection, Step&& step) noexcept {
    const DispatchScope scope(*this);
    Protect(connection, std::forward<Step>(step));
  }
  /// Logs an unforeseen failure of a request; now and then, not every time.
  static void ReportFailure(const char* what) noexcept;

  /// A buffer into which sockets are read before it is known where the bytes belong.
  std::vector<char>& scratch() { return scratch_; }
  const http2::SessionOptions& session_options() const { return session_options_; }
  /// Returns the loop as connections of HTTP/2 see it.
  http2::Connection::Host& http2_host();
  /// Puts a connection in the place of another one, whose client it serves from now on.
  void Replace(net::Connection& connection, std::shared_ptr<net::Connection> with) {
    (void)server_loop_.connections().Replace(connection, std::move(with));
  }
  /// Forgets a connection that is closed.
  void Remove(net::Connection& connection) { server_loop_.Remove(connection); }

  /// While one lives on the loop's thread, replies that complete there are collected; the outermost
  /// scope sends them in the end. So a handler that answers at once does not call itself deeper and
  /// deeper.
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
  ~LoopServices();
  void RunCompletions() noexcept;

  net::ServerLoop& server_loop_;      // valid until the loop ends
  const net::EventLoop* const loop_;  // likewise
  const std::shared_ptr<net::Inbox> inbox_;
  const HttpServerOptions options_;
  const std::shared_ptr<HttpHandler> handler_;
  const TimeoutTicks timeouts_;
  const http2::SessionOptions session_options_;
  std::vector<char> scratch_;
  std::string server_fields_;  // with the field Date of fields_time_
  std::time_t fields_time_ = -1;
  std::optional<http2::FlushList> http2_connections_;  // from the first client of HTTP/2 on
  net::TaskList completed_;
  int dispatch_depth_ = 0;
  uint64_t tick_ = 1;
  bool draining_ = false;
};

}  // namespace nereid::frontend::http
