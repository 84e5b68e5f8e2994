// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/loop.h"

#include <utility>

#include "frontend/grpc/exception_guard.h"

namespace nereid::frontend::grpc {

Loop::Loop(ServerContext& context, net::ServerLoop& server_loop)
    : context_(context), server_loop_(server_loop) {
  server_loop_.event_loop().SetTurnListener(this);
}

std::shared_ptr<net::Connection> Loop::Connect(std::unique_ptr<net::ByteStream> client) {
  Connection::Host& host = *this;
  return std::make_shared<Connection>(context_, host, std::move(client));
}

void Loop::FlushLater(std::shared_ptr<Connection> connection) {
  to_flush_.push_back(std::move(connection));
}

void Loop::EndTurn() {
  // A flush may end calls, and those may ask for flushes.
  while (!to_flush_.empty()) {
    std::vector<std::shared_ptr<Connection>> turn;
    turn.swap(to_flush_);
    for (const std::shared_ptr<Connection>& connection : turn) {
      const bool flushed = Guarded("a connection", false, [&] {
        connection->Flush();
        return true;
      });
      if (!flushed) connection->Close();
    }
  }
}

void Loop::OnTurnEnd() noexcept {
  Guarded("a connection", false, [this] {
    EndTurn();
    return true;
  });
}

}  // namespace nereid::frontend::grpc
