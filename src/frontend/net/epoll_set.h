// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/epoll.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "frontend/net/socket.h"

namespace nereid::frontend::net {

/// An epoll(7) set with the events that it has reported and that nobody has taken yet. Not
/// thread-safe.
class EpollSet {
 public:
  /// `max_events` is how many events one Wait() may report.
  explicit EpollSet(size_t max_events)
      : epoll_(epoll_create1(EPOLL_CLOEXEC)), events_(max_events) {}

  bool is_open() const { return epoll_.is_open(); }
  int descriptor() const { return epoll_.descriptor(); }

  /// Watches a descriptor; `mark` identifies its events. Returns false, with errno, if the system
  /// refuses.
  bool Add(int descriptor, void* mark, uint32_t events) noexcept {
    return Control(EPOLL_CTL_ADD, descriptor, mark, events);
  }
  void Change(int descriptor, void* mark, uint32_t events) noexcept {
    (void)Control(EPOLL_CTL_MOD, descriptor, mark, events);
  }
  /// Ends the watch. An event of `mark` that was not taken yet is forgotten.
  void Remove(int descriptor, void* mark) noexcept;

  /// Reports what is ready. If nothing is, waits for it if `may_wait`. All earlier events must be
  /// taken.
  void Wait(bool may_wait) noexcept;
  bool has_events() const { return next_ < end_; }
  /// Takes the first of the events. `data.ptr` is its mark, or null if it is forgotten.
  const epoll_event& Take() noexcept { return events_[next_++]; }

 private:
  bool Control(int operation, int descriptor, void* mark, uint32_t events) noexcept;

  Socket epoll_;
  std::vector<epoll_event> events_;
  // The events that are not taken: from next_ to end_.
  size_t next_ = 0;
  size_t end_ = 0;
};

}  // namespace nereid::frontend::net
