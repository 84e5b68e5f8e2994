// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "frontend/grpc/unary_call.h"

namespace nereid::frontend::grpc {

/// The RPC grpc.health.v1.Health/Watch: sends the server's state, and again whenever it changes.
class HealthWatchCall final : public UnaryCall {
 public:
  explicit HealthWatchCall(const CallOrigin& origin) : UnaryCall(origin), alarm_(*this) {}

  void EndIfIdle() override;

 private:
  // The timer that has the server's state read again.
  class Alarm final : public net::Timer {
   public:
    explicit Alarm(HealthWatchCall& call) : call_(call) {}
    void OnDeadline() override { call_.Report(); }

   private:
    HealthWatchCall& call_;
  };

  void OnRequest(StoredBytes message) override;
  void OnCancelled() override;
  void Report();

  Alarm alarm_;
  uint64_t alarm_ns_ = 0;  // 0: not set
  std::optional<int> reported_;
};

}  // namespace nereid::frontend::grpc
