// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/epoll_set.h"

namespace nereid::frontend::net {

bool EpollSet::Control(int operation, int descriptor, void* mark, uint32_t events) noexcept {
  epoll_event event = {.events = events, .data = {.ptr = mark}};
  return epoll_ctl(epoll_.descriptor(), operation, descriptor, &event) == 0;
}

void EpollSet::Remove(int descriptor, void* mark) noexcept {
  (void)Control(EPOLL_CTL_DEL, descriptor, nullptr, 0);
  for (size_t i = next_; i < end_; ++i) {
    if (events_[i].data.ptr == mark) events_[i].data.ptr = nullptr;
  }
}

void EpollSet::Wait(bool may_wait) noexcept {
  const int count = epoll_wait(epoll_.descriptor(), events_.data(),
                               static_cast<int>(events_.size()), may_wait ? -1 : 0);
  next_ = 0;
  end_ = count < 0 ? 0 : static_cast<size_t>(count);
}

}  // namespace nereid::frontend::net
