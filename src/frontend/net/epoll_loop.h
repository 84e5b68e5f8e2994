// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "frontend/net/epoll_set.h"
#include "frontend/net/event_loop.h"

namespace nereid::frontend::net {

/// An event loop over epoll(7). Sockets are watched level-triggered: a connection that does not
/// read everything in its turn gets another turn after the others, without a system call.
///
/// Newcomers are in a set of their own, which the other set watches. An epoll set reports its
/// descriptors in the order in which they became ready, so a served client would otherwise wait
/// behind thousands of newcomers.
class EpollLoop final : public EventLoop {
 public:
  /// Creates a loop. Returns UNAVAILABLE if the system has no descriptors for it.
  static base::Result<std::unique_ptr<EventLoop>> Make(
      const base::Clock& clock = base::SteadyClock());

  std::unique_ptr<ByteStream> NewStream(Socket socket) override;
  bool Watch(int descriptor, Watcher& watcher, Interest interest) noexcept override;
  void Change(int descriptor, Watcher& watcher, Interest interest) noexcept override;
  void Unwatch(int descriptor, Watcher& watcher) noexcept override;

 private:
  EpollLoop(Socket timer, std::shared_ptr<Inbox> inbox, const base::Clock& clock);
  bool WatchOwn();
  bool Move(int descriptor, Watcher& watcher, Interest interest) noexcept override;
  bool Wait(bool may_wait, uint64_t timer_ns) override;
  void ServeNewcomers();
  void ArmTimer(uint64_t timer_ns);
  EpollSet& SetOf(const Watcher& watcher);

  /// The watchers that are no newcomers, and what belongs to the loop.
  EpollSet set_;
  EpollSet newcomers_;
  /// A timerfd(2), which is set only when a timer comes first. A timeout of epoll_wait() would have
  /// the kernel set and cancel a timer in each turn, which costs 8 % of a small request on a
  /// virtual machine.
  const Socket timer_;
  uint64_t armed_ns_ = kNever;  // when timer_ goes off
};

}  // namespace nereid::frontend::net
