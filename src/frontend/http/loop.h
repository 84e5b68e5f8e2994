// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "frontend/http/http_handler.h"
#include "frontend/http/http_options.h"
#include "frontend/http/loop_services.h"
#include "frontend/net/server_loop.h"

namespace nereid::frontend::http {

/// HTTP on one event loop: makes the connections, and lets their time pass in ticks.
class Loop final : public LoopServices,
                   public net::Protocol,
                   public std::enable_shared_from_this<Loop> {
 public:
  using LoopServices::LoopServices;

  // net::Protocol
  std::shared_ptr<net::Connection> Connect(std::unique_ptr<net::ByteStream> stream) override;
  void BeginDrain() override { draining_ = true; }
  void OnLoopEnded() override;

 private:
  void OnTick();
  void ScheduleTick();

  net::MemberTimer<Loop, &Loop::OnTick> ticks_{*this};
};

}  // namespace nereid::frontend::http
