// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/tls_loop.h"

namespace nereid::frontend::net {

void TlsLoop::BeginDrain() noexcept {
  draining_ = true;
  while (!waiting_.empty()) GiveUpFirst(nullptr);
}

void TlsLoop::Add(WaitingHandshake& handshake) noexcept {
  waiting_.push_back(handshake);
  if (draining_) return BeginDrain();
  if (waiting_.size() > max_waiting_) GiveUpFirst("newer ones need its place");
}

void TlsLoop::Remove(WaitingHandshake& handshake) noexcept {
  if (handshake.is_linked()) waiting_.erase(waiting_.iterator_to(handshake));
}

void TlsLoop::GiveUpFirst(const char* reason) noexcept {
  WaitingHandshake& first = waiting_.front();
  waiting_.pop_front();
  first.GiveUp(reason);
}

}  // namespace nereid::frontend::net
