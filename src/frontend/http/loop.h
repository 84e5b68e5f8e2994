// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/status.h"
#include "frontend/http/connection.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/http_options.h"
#include "frontend/http/loop_services.h"
#include "frontend/net/listener.h"

namespace nereid::frontend::http {

/// One event loop: a thread, a listening socket, and the connections that it accepted. Connections
/// keep their loop alive, so a late response of the core always finds it.
class Loop final : public LoopServices, public std::enable_shared_from_this<Loop> {
 public:
  Loop(const HttpServerOptions& options, std::shared_ptr<HttpHandler> handler);
  ~Loop();

  /// Binds and listens; see net::Listener. Before Start.
  base::Result<net::Endpoint> Listen(const net::Endpoint& endpoint, bool shared) {
    return listener_.Listen(endpoint, shared);
  }
  /// UNAVAILABLE if the system has no thread for it; the loop then counts as ended.
  base::Status Start(int number);
  /// Any thread: stops accepting; the thread ends when the last connection has.
  void BeginDrain();
  /// Any thread: closes all connections.
  void CloseAll();
  /// Waits for the thread's end up to `timeout`; true if it has ended.
  bool WaitEnded(std::chrono::steady_clock::time_point until);
  void Join();

  void Complete(Completion completion) noexcept override;

  // On the loop's thread only:
  void Remove(Connection* connection) override;

 private:
  void Run();
  void RunUntilStopped();
  void Add(Socket socket);
  void OnTick();
  void ScheduleTick();
  void EndIfDrained();
  void RunCompletions() override;
  void RunRemoteCompletions();

  boost::asio::io_context context_{1};
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
  net::Listener listener_;
  boost::asio::steady_timer timer_{context_};
  std::thread thread_;

  // The loop's thread only.
  std::vector<std::shared_ptr<Connection>> connections_;
  std::vector<Completion> completed_;
  bool ticking_ = false;

  std::mutex mutex_;
  std::vector<Completion> completed_elsewhere_;  // guarded by mutex_
  bool ended_ = false;                           // guarded by mutex_
  std::condition_variable ended_changed_;
};

}  // namespace nereid::frontend::http
