// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/epoll_loop.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "frontend/net/socket_stream.h"

namespace nereid::frontend::net {
namespace {

constexpr uint64_t kMaxWaitMs = 3'600'000;

uint32_t Events(Interest interest) {
  return (interest.reading ? uint32_t{EPOLLIN} : 0) | (interest.writing ? uint32_t{EPOLLOUT} : 0);
}

base::Status Failure(int error) {
  return base::Status::Unavailable("cannot make the epoll set of an event loop: " +
                                   std::generic_category().message(error));
}

/// Rounds up: a loop that wakes before a timer's time would turn until it has come.
int Milliseconds(uint64_t wait_ns, uint64_t forever) {
  if (wait_ns == forever) return -1;
  const uint64_t ms = wait_ns / 1'000'000 + (wait_ns % 1'000'000 == 0 ? 0 : 1);
  return static_cast<int>(std::min(ms, kMaxWaitMs));
}

}  // namespace

base::Result<std::unique_ptr<EventLoop>> EpollLoop::Make(const base::Clock& clock) {
  NEREID_ASSIGN_OR_RETURN(std::shared_ptr<Inbox> inbox, Inbox::Make());
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return Failure(errno);
  // Edge-triggered: each wake-up is told once, and the descriptor need not be read.
  epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, inbox->wake_descriptor(), &event) != 0) {
    const int error = errno;
    close(epoll);
    return Failure(error);
  }
  return std::unique_ptr<EventLoop>(new EpollLoop(epoll, std::move(inbox), clock));
}

EpollLoop::EpollLoop(int epoll, std::shared_ptr<Inbox> inbox, const base::Clock& clock)
    : EventLoop(std::move(inbox), clock), epoll_(epoll) {}

EpollLoop::~EpollLoop() { close(epoll_); }

std::unique_ptr<ByteStream> EpollLoop::NewStream(Socket socket) {
  return std::make_unique<SocketStream>(*this, std::move(socket));
}

bool EpollLoop::Watch(int descriptor, Watcher& watcher, Interest interest) noexcept {
  epoll_event event = {.events = Events(interest), .data = {.ptr = &watcher}};
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void EpollLoop::Change(int descriptor, Watcher& watcher, Interest interest) noexcept {
  epoll_event event = {.events = Events(interest), .data = {.ptr = &watcher}};
  (void)!epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &event);
}

void EpollLoop::Unwatch(int descriptor, Watcher& watcher) noexcept {
  epoll_event event = {};
  (void)!epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, &event);
  // Events that epoll_wait() has returned already are not told to a watcher that is gone.
  for (size_t i = next_; i < end_; ++i) {
    if (events_[i].data.ptr == &watcher) events_[i].data.ptr = nullptr;
  }
}

void EpollLoop::Wait(uint64_t wait_ns) {
  const int count = epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()),
                               Milliseconds(wait_ns, kForever));
  inbox()->Disarm();
  next_ = 0;
  end_ = count < 0 ? 0 : static_cast<size_t>(count);
  while (next_ < end_) {
    const epoll_event& event = events_[next_++];
    if (event.data.ptr == nullptr) continue;  // a wake-up, or the watcher is gone
    static_cast<Watcher*>(event.data.ptr)
        ->OnReady({.readable = (event.events & EPOLLIN) != 0,
                   .writable = (event.events & EPOLLOUT) != 0,
                   .lost = (event.events & (EPOLLERR | EPOLLHUP)) != 0});
  }
}

}  // namespace nereid::frontend::net
