// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/status.h"
#include "frontend/http/connection.h"
#include "frontend/http/http_server.h"
#include "frontend/net/accept_backoff.h"

namespace nereid::frontend::http {

/// The timeouts of the options in ticks of a loop.
struct TimeoutTicks {
  explicit TimeoutTicks(const HttpServerOptions& options);
  std::chrono::milliseconds tick;
  uint64_t head, stall, idle, half_closed, linger;
};

/// One event loop: a thread, a listening socket, and the connections that it accepted. Connections
/// keep their loop alive, so a late response of the core always finds it.
class Loop : public std::enable_shared_from_this<Loop> {
 public:
  using Endpoint = boost::asio::ip::tcp::endpoint;
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp,
                                                      boost::asio::io_context::executor_type>;

  Loop(const HttpServerOptions& options, std::shared_ptr<HttpHandler> handler);
  ~Loop();

  /// Binds and listens. `endpoint` gets the port that the kernel chose, if it was 0.
  base::Status Listen(Endpoint* endpoint, bool reuse_port);
  /// UNAVAILABLE if the system has no thread for it; the loop then counts as ended.
  base::Status Start(int number);
  /// Any thread: stops accepting; the thread ends when the last connection has.
  void BeginDrain();
  /// Any thread: closes all connections.
  void CloseAll();
  /// Waits for the thread's end up to `timeout`; true if it has ended.
  bool WaitEnded(std::chrono::steady_clock::time_point until);
  void Join();

  /// An answer that is there, and the sink that it went through, if not the connection itself; or a
  /// piece of an answer.
  struct Completion {
    std::shared_ptr<Connection> connection;
    std::shared_ptr<DeadlineSink> sink;
    std::shared_ptr<ReplyStream> stream;

    /// On the loop's thread.
    void Run() const;
    /// The loop has ended.
    void Drop() const;
  };
  /// Any thread: has the connection's OnCompleted() or OnStream() called on the loop's thread,
  /// soon.
  void Complete(Completion completion) noexcept;

  // On the loop's thread only:
  const HttpServerOptions& options() const { return options_; }
  HttpHandler& handler() { return *handler_; }
  const TimeoutTicks& timeouts() const { return timeouts_; }
  uint64_t tick() const { return tick_; }
  bool draining() const { return draining_; }
  /// Runs `step` for a connection. What it throws (memory that ran out) ends that connection, never
  /// the process.
  template <typename Step>
  void Protect(Connection& connection, Step&& step) noexcept {
    try {
      step();
    } catch (const std::exception& failure) {
      ReportFailure(failure.what());
      connection.Close();
    }
  }
  /// Logs what a request failed of that nobody foresaw; now and then, not every time.
  void ReportFailure(const char* what) noexcept;

  /// Where sockets are read into before anybody knows whose bytes they are.
  std::vector<char>& scratch() { return scratch_; }
  void Remove(Connection* connection);

  /// While one lives on the loop's thread, completions are collected; the outermost one runs them.
  class DispatchScope {
   public:
    explicit DispatchScope(Loop& loop) : loop_(loop) { ++loop_.dispatch_depth_; }
    ~DispatchScope() {
      if (--loop_.dispatch_depth_ == 0) loop_.RunCompletions();
    }
    DispatchScope(const DispatchScope&) = delete;

   private:
    Loop& loop_;
  };

 private:
  void Run();
  void RunUntilStopped();
  void Accept();
  void Add(Socket socket);
  void OnTick();
  void ScheduleTick();
  void EndIfDrained();
  void RunCompletions();
  void RunRemoteCompletions();

  const HttpServerOptions options_;
  const std::shared_ptr<HttpHandler> handler_;
  const TimeoutTicks timeouts_;
  boost::asio::io_context context_{1};
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
  Acceptor acceptor_{context_};
  boost::asio::steady_timer timer_{context_};
  net::AcceptBackoff backoff_{context_, "HTTP"};
  std::thread thread_;

  // The loop's thread only.
  std::vector<char> scratch_;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::vector<Completion> completed_;
  int dispatch_depth_ = 0;
  uint64_t tick_ = 1;
  bool ticking_ = false;
  bool accepting_ = false;
  bool draining_ = false;

  std::mutex mutex_;
  std::vector<Completion> completed_elsewhere_;  // guarded by mutex_
  bool ended_ = false;                           // guarded by mutex_
  std::condition_variable ended_changed_;
};

}  // namespace nereid::frontend::http
