// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "frontend/grpc/call_status.h"
#include "frontend/grpc/request_head.h"
#include "frontend/grpc/server_context.h"
#include "frontend/http2/stream.h"
#include "frontend/net/event_loop.h"

namespace nereid::frontend::grpc {

/// Makes the calls of one connection, and refuses what is no call. Event loop thread only.
class Calls final : public http2::StreamMaker {
 public:
  Calls(ServerContext& context, net::EventLoop& loop) : context_(context), loop_(loop) {}

  // http2::StreamMaker
  void BeginHead(const http2::Opening& opening) override;
  size_t AddField(std::string_view name, std::string_view value) override;
  std::shared_ptr<http2::Stream> Make(const http2::Opening& opening) override;

 private:
  /// Answers a request that cannot be a call, by its headers alone. Returns whether it has.
  bool RefuseByHead(const http2::Opening& opening);
  void Refuse(const http2::Opening& opening, const CallStatus& status);
  void RecordRefusal(const http2::Opening& opening, int status);

  ServerContext& context_;
  net::EventLoop& loop_;
  RequestHead head_;  // of the call whose headers are arriving
};

}  // namespace nereid::frontend::grpc
