// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/flush_list.h"

#include <utility>

#include "frontend/http2/exception_guard.h"

namespace nereid::frontend::http2 {

FlushList::FlushList(net::ServerLoop& server_loop, bool shares_loop)
    : server_loop_(server_loop), shares_loop_(shares_loop) {
  server_loop_.event_loop().SetTurnListener(this);
}

void FlushList::FlushLater(std::shared_ptr<Connection> connection) {
  if (shares_loop_ && to_flush_.empty()) event_loop().Post(wake_, nullptr);
  to_flush_.push_back(std::move(connection));
}

void FlushList::EndTurn() {
  // A flush may end requests, and those may ask for flushes.
  while (!to_flush_.empty()) {
    std::vector<std::shared_ptr<Connection>> turn;
    turn.swap(to_flush_);
    for (const std::shared_ptr<Connection>& connection : turn) {
      const bool flushed = Guarded("HTTP/2: a connection", false, [&] {
        connection->Flush();
        return true;
      });
      if (!flushed) connection->Close();
    }
  }
}

void FlushList::OnTurnEnd() noexcept {
  Guarded("HTTP/2: a connection", false, [this] {
    EndTurn();
    return true;
  });
}

}  // namespace nereid::frontend::http2
