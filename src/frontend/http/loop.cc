// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/loop.h"

#include <utility>

#include "frontend/http/connection.h"

namespace nereid::frontend::http {

std::shared_ptr<net::Connection> Loop::Connect(std::unique_ptr<net::ByteStream> stream) {
  auto connection = std::make_shared<Connection>(shared_from_this(), std::move(stream));
  if (!ticks_.is_set()) ScheduleTick();
  return connection;
}

void Loop::OnLoopEnded() {
  event_loop().CancelTimer(ticks_);
  if (http2_connections_) http2_connections_->Clear();
}

// A loop without connections does not wake up.
void Loop::OnTick() {
  ++tick_;
  net::ConnectionList& connections = server_loop_.connections();
  connections.ForEach([this](net::Connection& connection) {
    Protect(connection, [&] { connection.CheckTimeout(tick_); });
  });
  if (!connections.empty()) ScheduleTick();
}

void Loop::ScheduleTick() {
  const std::chrono::nanoseconds tick = timeouts_.tick;
  event_loop().SetTimer(ticks_, event_loop().NowNs() + static_cast<uint64_t>(tick.count()));
}

}  // namespace nereid::frontend::http
