// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "frontend/grpc/loop_inbox.h"

namespace nereid::frontend::grpc {

struct ServerContext;

/// Something that waits for a time.
class Timed {
 public:
  virtual void OnDeadline() = 0;

 protected:
  ~Timed() = default;
};

/// A part of an event loop's state that calls and sessions see. All functions but `inbox()` on the
/// loop's own thread.
class LoopServices {
 public:
  /// The loop whose thread this is; null elsewhere.
  static LoopServices* Current();

  virtual ~LoopServices() = default;
  /// Calls `timed` once at `deadline_ns` (monotonic) unless removed before.
  virtual void AddDeadline(uint64_t deadline_ns, Timed* timed) = 0;
  virtual void RemoveDeadline(uint64_t deadline_ns, Timed* timed) = 0;
  virtual uint64_t NowNs() const = 0;
  /// The same to a few milliseconds, for a fraction of the cost.
  virtual uint64_t RoughNowNs() const = 0;
  const std::shared_ptr<LoopInbox>& inbox() const { return inbox_; }

 protected:
  std::shared_ptr<LoopInbox> inbox_;
};

/// One thread with its listening socket and its connections.
class EventLoop {
 public:
  /// `on_drained` is called on the loop's thread when, while shutting down, its last connection is
  /// gone.
  EventLoop(ServerContext& context, std::function<void()> on_drained);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// Binds a listening socket (SO_REUSEPORT) and returns its port. Before Run().
  base::Result<uint16_t> Listen(const std::string& address, uint16_t port);

  /// Serves until Stop(). The calling thread becomes the loop's thread.
  void Run();

  /// Stops listening and asks every connection to end. Any thread.
  void Shutdown();

  /// Ends Run() after all connections are closed. Any thread.
  void Stop();

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

/// UNAVAILABLE "Socket 'A:P' already in use " when another socket listens there.
base::Status CheckPortIsFree(const std::string& address, uint16_t port);

}  // namespace nereid::frontend::grpc
