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

/// Watches a descriptor that belongs to the loop; `mark` identifies its events. Edge-triggered:
/// each event is reported once, and the descriptor need not be read.
bool WatchOwn(int epoll, int descriptor, void* mark) {
  epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.ptr = mark}};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

/// Its address identifies the timer in the events; null identifies the inbox and removed
/// watchers.
char timer_mark;

}  // namespace

base::Result<std::unique_ptr<EventLoop>> EpollLoop::Make(const base::Clock& clock) {
  NEREID_ASSIGN_OR_RETURN(std::shared_ptr<Inbox> inbox, Inbox::Make());
  Socket epoll(epoll_create1(EPOLL_CLOEXEC));
  Socket timer(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!epoll.is_open() || !timer.is_open() ||
      !WatchOwn(epoll.descriptor(), inbox->wake_descriptor(), nullptr) ||
      !WatchOwn(epoll.descriptor(), timer.descriptor(), &timer_mark)) {
    return base::Status::Unavailable("cannot make the epoll set of an event loop: " +
                                     std::generic_category().message(errno));
  }
  return std::unique_ptr<EventLoop>(
      new EpollLoop(std::move(epoll), std::move(timer), std::move(inbox), clock));
}

EpollLoop::EpollLoop(Socket epoll, Socket timer, std::shared_ptr<Inbox> inbox,
                     const base::Clock& clock)
    : EventLoop(std::move(inbox), clock), epoll_(std::move(epoll)), timer_(std::move(timer)) {}

std::unique_ptr<ByteStream> EpollLoop::NewStream(Socket socket) {
  return std::make_unique<SocketStream>(*this, std::move(socket));
}

bool EpollLoop::Watch(int descriptor, Watcher& watcher, Interest interest) noexcept {
  epoll_event event = {.events = Events(interest), .data = {.ptr = &watcher}};
  return epoll_ctl(epoll_.descriptor(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void EpollLoop::Change(int descriptor, Watcher& watcher, Interest interest) noexcept {
  epoll_event event = {.events = Events(interest), .data = {.ptr = &watcher}};
  (void)!epoll_ctl(epoll_.descriptor(), EPOLL_CTL_MOD, descriptor, &event);
}

void EpollLoop::Unwatch(int descriptor, Watcher& watcher) noexcept {
  epoll_event event = {};
  (void)!epoll_ctl(epoll_.descriptor(), EPOLL_CTL_DEL, descriptor, &event);
  // Events that epoll_wait() has already returned must not be reported to a removed watcher.
  for (size_t i = next_; i < end_; ++i) {
    if (events_[i].data.ptr == &watcher) events_[i].data.ptr = nullptr;
  }
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
  const int count = epoll_wait(epoll_.descriptor(), events_.data(),
                               static_cast<int>(events_.size()), may_wait ? -1 : 0);
  inbox()->Disarm();
  bool time_has_come = false;
  next_ = 0;
  end_ = count < 0 ? 0 : static_cast<size_t>(count);
  while (next_ < end_) {
    const epoll_event& event = events_[next_++];
    if (event.data.ptr == nullptr) continue;
    if (event.data.ptr == &timer_mark) {
      time_has_come = true;
      armed_ns_ = kNever;
      continue;
    }
    static_cast<Watcher*>(event.data.ptr)
        ->OnReady({.readable = (event.events & EPOLLIN) != 0,
                   .writable = (event.events & EPOLLOUT) != 0,
                   .lost = (event.events & (EPOLLERR | EPOLLHUP)) != 0});
  }
  return time_has_come;
}

}  // namespace nereid::frontend::net
