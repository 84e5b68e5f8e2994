// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/epoll_loop.h"

#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "frontend/net/socket_stream.h"

namespace nereid::frontend::net {
namespace {

uint32_t Events(Interest interest) {
  return (interest.reading ? uint32_t{EPOLLIN} : 0) | (interest.writing ? uint32_t{EPOLLOUT} : 0);
}

/// How many events one system call reports. Those of newcomers that are not served in this turn are
/// kept, so there are few of them.
constexpr size_t kMaxEvents = 128;
constexpr size_t kMaxNewcomers = 16;

/// Their addresses identify the loop's own events: those of the timer, and of the newcomers' set.
/// Null identifies the inbox and removed watchers.
char timer_mark;
char newcomers_mark;

Watcher& WatcherOf(const epoll_event& event) { return *static_cast<Watcher*>(event.data.ptr); }

Watcher::Ready ReadyOf(const epoll_event& event) {
  return {.readable = (event.events & EPOLLIN) != 0,
          .writable = (event.events & EPOLLOUT) != 0,
          .lost = (event.events & (EPOLLERR | EPOLLHUP)) != 0};
}

}  // namespace

base::Result<std::unique_ptr<EventLoop>> EpollLoop::Make(const base::Clock& clock) {
  NEREID_ASSIGN_OR_RETURN(std::shared_ptr<Inbox> inbox, Inbox::Make());
  Socket timer(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  std::unique_ptr<EpollLoop> loop(new EpollLoop(std::move(timer), std::move(inbox), clock));
  if (!loop->WatchOwn()) {
    return base::Status::Unavailable("cannot make the epoll sets of an event loop: " +
                                     std::generic_category().message(errno));
  }
  return std::unique_ptr<EventLoop>(std::move(loop));
}

EpollLoop::EpollLoop(Socket timer, std::shared_ptr<Inbox> inbox, const base::Clock& clock)
    : EventLoop(std::move(inbox), clock),
      set_(kMaxEvents),
      newcomers_(kMaxNewcomers),
      timer_(std::move(timer)) {}

/// Watches what belongs to the loop. Edge-triggered where each event should be reported once, so
/// that the descriptor need not be read.
bool EpollLoop::WatchOwn() {
  return timer_.is_open() && set_.is_open() && newcomers_.is_open() &&
         set_.Add(inbox()->wake_descriptor(), nullptr, EPOLLIN | EPOLLET) &&
         set_.Add(timer_.descriptor(), &timer_mark, EPOLLIN | EPOLLET) &&
         set_.Add(newcomers_.descriptor(), &newcomers_mark, EPOLLIN);
}

std::unique_ptr<ByteStream> EpollLoop::NewStream(Socket socket) {
  return std::make_unique<SocketStream>(*this, std::move(socket));
}

EpollSet& EpollLoop::SetOf(const Watcher& watcher) {
  return RankOf(watcher) == Watcher::Rank::kNewcomer ? newcomers_ : set_;
}

bool EpollLoop::Watch(int descriptor, Watcher& watcher, Interest interest) noexcept {
  return SetOf(watcher).Add(descriptor, &watcher, Events(interest));
}

void EpollLoop::Change(int descriptor, Watcher& watcher, Interest interest) noexcept {
  SetOf(watcher).Change(descriptor, &watcher, Events(interest));
}

void EpollLoop::Unwatch(int descriptor, Watcher& watcher) noexcept {
  SetOf(watcher).Remove(descriptor, &watcher);
}

bool EpollLoop::Move(int descriptor, Watcher& watcher, Interest interest) noexcept {
  if (!set_.Add(descriptor, &watcher, Events(interest))) return false;
  newcomers_.Remove(descriptor, &watcher);
  return true;
}

/// A timer that is cancelled leaves timer_ as it is: it goes off in vain, once.
void EpollLoop::ArmTimer(uint64_t timer_ns) {
  constexpr uint64_t kSecond = 1'000'000'000;
  armed_ns_ = timer_ns;
  const uint64_t at_ns = std::max<uint64_t>(timer_ns, 1);  // 0 would turn it off
  itimerspec time = {};
  time.it_value = {.tv_sec = static_cast<time_t>(at_ns / kSecond),
                   .tv_nsec = static_cast<long>(at_ns % kSecond)};
  (void)!timerfd_settime(timer_.descriptor(), TFD_TIMER_ABSTIME, &time, nullptr);
}

bool EpollLoop::Wait(bool may_wait, uint64_t timer_ns) {
  if (timer_ns < armed_ns_) ArmTimer(timer_ns);
  bool has_newcomers = newcomers_.has_events();
  set_.Wait(may_wait && !has_newcomers);
  inbox()->Disarm();
  bool time_has_come = false;
  while (set_.has_events()) {
    const epoll_event& event = set_.Take();
    if (event.data.ptr == nullptr) continue;
    if (event.data.ptr == &timer_mark) {
      time_has_come = true;
      armed_ns_ = kNever;
    } else if (event.data.ptr == &newcomers_mark) {
      has_newcomers = true;
    } else {
      WatcherOf(event).OnReady(ReadyOf(event));
    }
  }
  if (has_newcomers) ServeNewcomers();
  return time_has_come;
}

/// The events that are left when the time is over come first in the next turn: their descriptors
/// may be ready no more, as watchers have to expect.
void EpollLoop::ServeNewcomers() {
  if (!newcomers_.has_events()) newcomers_.Wait(/*may_wait=*/false);
  const uint64_t begin_ns = NowNs();
  while (newcomers_.has_events()) {
    const epoll_event& event = newcomers_.Take();
    if (event.data.ptr != nullptr) WatcherOf(event).OnReady(ReadyOf(event));
    if (newcomers_.has_events() && NowNs() - begin_ns >= kNewcomersNs) return;
  }
}

}  // namespace nereid::frontend::net
