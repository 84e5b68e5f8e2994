// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "frontend/grpc/server_context.h"
#include "frontend/http2/flush_list.h"
#include "frontend/net/server_loop.h"

namespace nereid::frontend::grpc {

/// gRPC on one event loop: makes the connections.
class Loop final : public net::Protocol {
 public:
  Loop(ServerContext& context, net::ServerLoop& server_loop)
      : context_(context), connections_(server_loop, /*shares_loop=*/false) {}

  // net::Protocol
  std::shared_ptr<net::Connection> Connect(std::unique_ptr<net::ByteStream> client) override;
  void OnLoopEnded() override { connections_.Clear(); }

 private:
  ServerContext& context_;
  http2::FlushList connections_;
};

}  // namespace nereid::frontend::grpc
