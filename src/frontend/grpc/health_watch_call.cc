// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/health_watch_call.h"

#include <memory>

#include "frontend/grpc/server_context.h"
#include "health.pb.h"

namespace nereid::frontend::grpc {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;

constexpr uint64_t kPollNs = 1'000'000'000;

}  // namespace

void HealthWatchCall::OnRequest(StoredBytes message) {
  HealthCheckRequest request;
  if (!request.ParseFromArray(message.bytes.data(), static_cast<int>(message.bytes.size()))) {
    Finish({kGrpcInternal, "failed to parse the HealthCheckRequest message"});
    return;
  }
  is_watching_ = true;
  OnAlarm();
}

void HealthWatchCall::EndIfIdle() {
  if (!is_watching_) return UnaryCall::EndIfIdle();
  if (finished()) return;
  CancelAlarm();
  Report(false);
  Finish({kGrpcUnavailable, "Server exiting"});
}

void HealthWatchCall::OnAlarm() {
  alarm_ns_ = 0;
  if (finished()) return;
  if (context_.stopping.load(std::memory_order_acquire)) return EndIfIdle();
  Ask();
}

// Nothing keeps the call alive while it waits for the answer: a client that goes away frees it.
void HealthWatchCall::Ask() {
  const auto tell = [self = weak_from_this()](bool ready) {
    const auto call = std::static_pointer_cast<HealthWatchCall>(self.lock());
    if (call == nullptr) return;
    call->ready_.store(ready, std::memory_order_relaxed);
    call->Deliver({});
  };
  base::BlockingWorkers* const workers = context_.WorkersFor(api::Operation::kServerReady);
  if (!context_.watched.Ask(*workers, tell)) SetAlarm();
}

void HealthWatchCall::OnDelivery(Delivery) {
  if (EndIfTooLate() || finished()) return;
  if (context_.stopping.load(std::memory_order_acquire)) return EndIfIdle();
  Report(ready_.load(std::memory_order_relaxed));
  if (!finished()) SetAlarm();
}

void HealthWatchCall::SetAlarm() {
  alarm_ns_ = loop_.NowNs() + kPollNs;
  loop_.SetTimer(alarm_, alarm_ns_);
}

void HealthWatchCall::CancelAlarm() {
  if (alarm_ns_ != 0) loop_.CancelTimer(alarm_);
  alarm_ns_ = 0;
}

void HealthWatchCall::Report(bool ready) {
  if (reported_ == ready) return;
  reported_ = ready;
  HealthCheckResponse response;
  response.set_status(ready ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING);
  SendMessage(FrameMessage(response.SerializeAsString()));
}

}  // namespace nereid::frontend::grpc
