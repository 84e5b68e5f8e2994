// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/loop.h"

#include <utility>

#include "frontend/grpc/calls.h"

namespace nereid::frontend::grpc {

std::shared_ptr<net::Connection> Loop::Connect(std::unique_ptr<net::ByteStream> client) {
  http2::Connection::Host& host = connections_;
  return std::make_shared<http2::Connection>(context_.session_options, host, std::move(client),
                                             std::make_unique<Calls>(context_, host.event_loop()));
}

}  // namespace nereid::frontend::grpc
