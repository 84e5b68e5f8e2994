// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/testing/manual_loop.h"

#include <cerrno>
#include <vector>

#include "frontend/net/socket_stream.h"

namespace nereid::frontend::net::testing {

std::unique_ptr<ByteStream> ManualLoop::NewStream(Socket socket) {
  return std::make_unique<SocketStream>(*this, std::move(socket));
}

bool ManualLoop::Watch(int descriptor, Watcher& watcher, Interest interest) noexcept {
  if (refuses_) {
    errno = ENOSPC;
    return false;
  }
  ++changes_;
  watched_[descriptor] = {&watcher, interest, {}};
  return true;
}

void ManualLoop::Change(int descriptor, Watcher&, Interest interest) noexcept {
  ++changes_;
  watched_.at(descriptor).interest = interest;
}

void ManualLoop::Unwatch(int descriptor, Watcher&) noexcept { watched_.erase(descriptor); }

bool ManualLoop::Wait(bool, uint64_t) {
  inbox()->Disarm();
  std::vector<int> descriptors;
  for (const auto& [descriptor, watched] : watched_) descriptors.push_back(descriptor);
  for (const int descriptor : descriptors) {
    const auto found = watched_.find(descriptor);
    if (found == watched_.end()) continue;
    Watcher::Ready ready = found->second.ready;
    ready.readable &= found->second.interest.reading;
    ready.writable &= found->second.interest.writing;
    if (ready.readable || ready.writable || ready.lost) found->second.watcher->OnReady(ready);
  }
  return true;
}

}  // namespace nereid::frontend::net::testing
