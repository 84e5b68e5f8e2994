// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>

#include "frontend/grpc/unary_call.h"

namespace nereid::frontend::grpc {

/// The RPC grpc.health.v1.Health/Watch: sends the server's state, and again whenever it changes.
class HealthWatchCall final : public UnaryCall {
 public:
  explicit HealthWatchCall(const CallOrigin& origin) : UnaryCall(origin), alarm_(*this) {}

  void EndIfIdle() override;

 private:
  // The timer that has the server's state asked again.
  class Alarm final : public net::Timer {
   public:
    explicit Alarm(HealthWatchCall& call) : call_(call) {}
    void OnDeadline() override { call_.OnAlarm(); }

   private:
    HealthWatchCall& call_;
  };

  void OnRequest(StoredBytes message) override;
  /// Takes the answer of Ask(), which is in ready_.
  void OnDelivery(Delivery delivery) override;
  void OnCancelled() override { CancelAlarm(); }
  void OnAlarm();
  /// Has the server's state asked on another thread, because plug-ins may answer, and delivers it.
  void Ask();
  void SetAlarm();
  void CancelAlarm();
  void Report(bool ready);

  Alarm alarm_;
  uint64_t alarm_ns_ = 0;  // 0: not set
  bool is_watching_ = false;
  std::optional<bool> reported_;
  std::atomic<bool> ready_{false};  // the answer, from the thread that asked to the loop
};

}  // namespace nereid::frontend::grpc
