// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/health_watch_call.h"

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
  Report();
}

void HealthWatchCall::OnCancelled() {
  if (alarm_ns_ != 0) loop_.CancelTimer(alarm_);
  alarm_ns_ = 0;
}

void HealthWatchCall::EndIfIdle() {
  if (alarm_ns_ == 0) return UnaryCall::EndIfIdle();
  loop_.CancelTimer(alarm_);
  Report();  // sends NOT_SERVING and ends the call
}

void HealthWatchCall::Report() {
  alarm_ns_ = 0;
  if (finished()) return;
  // IsServerReady() fails while the server exits: that counts as not serving.
  const bool stopping = context_.stopping.load(std::memory_order_acquire);
  const auto ready = context_.service.IsServerReady();
  const int state = !stopping && ready.ok() && *ready ? HealthCheckResponse::SERVING
                                                      : HealthCheckResponse::NOT_SERVING;
  if (reported_ != state) {
    HealthCheckResponse response;
    response.set_status(static_cast<HealthCheckResponse::ServingStatus>(state));
    SendMessage(FrameMessage(response.SerializeAsString()));
    reported_ = state;
  }
  if (stopping) {
    Finish({kGrpcUnavailable, "Server exiting"});
    return;
  }
  alarm_ns_ = loop_.NowNs() + kPollNs;
  loop_.SetTimer(alarm_, alarm_ns_);
}

}  // namespace nereid::frontend::grpc
