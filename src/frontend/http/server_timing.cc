// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/server_timing.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <utility>

#include "base/clock.h"
#include "request/compute_times.h"
#include "request/forwarding_sink.h"
#include "request/inference_response.h"

namespace nereid::frontend::http {
namespace {

double Milliseconds(uint64_t ns) { return static_cast<double>(ns) / 1e6; }

}  // namespace

/// Forwards the final response when the request is released too. The two come in any order, on any
/// threads; the second one forwards.
class ServerTiming::HoldingSink final : public request::ForwardingSink {
 public:
  HoldingSink(std::shared_ptr<request::ResponseSink> next, std::shared_ptr<ServerTiming> timing)
      : ForwardingSink(std::move(next)), timing_(std::move(timing)) {}

  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override {
    if (!final) return ForwardingSink::Send(std::move(response), false);
    last_ = std::move(response);
    Meet();
  }

  void RequestReleased(std::unique_ptr<request::InferenceRequest> request) noexcept override {
    timing_->End(*request);
    ForwardingSink::RequestReleased(std::move(request));
    Meet();
  }

 private:
  void Meet() noexcept {
    if (one_has_come_.exchange(true, std::memory_order_acq_rel)) {
      ForwardingSink::Send(std::move(last_), true);
    }
  }

  const std::shared_ptr<ServerTiming> timing_;
  std::unique_ptr<request::InferenceResponse> last_;
  std::atomic<bool> one_has_come_{false};
};

std::shared_ptr<ServerTiming> ServerTiming::Begin(request::InferenceRequest& request,
                                                  std::shared_ptr<request::ResponseSink>* sink) {
  auto timing = std::make_shared<ServerTiming>();
  request.compute_times = std::make_shared<request::ComputeTimes>();
  *sink = std::make_shared<HoldingSink>(std::move(*sink), timing);
  return timing;
}

void ServerTiming::End(const request::InferenceRequest& request) {
  const request::ComputeTimes& times = *request.compute_times;
  const uint64_t now_ns = base::SteadyClock().NowNs();
  const uint64_t total_ns = now_ns - std::min(now_ns, request.times.start_ns);
  char line[256];
  const int size = std::snprintf(
      line, sizeof(line),
      "Server-Timing: total;dur=%.3f, queue;dur=%.3f, compute_input;dur=%.3f, "
      "compute_infer;dur=%.3f, compute_output;dur=%.3f\r\n",
      Milliseconds(total_ns), Milliseconds(times.queue_ns), Milliseconds(times.input_ns),
      Milliseconds(times.infer_ns), Milliseconds(times.output_ns));
  try {
    field_.assign(line, static_cast<size_t>(size));
  } catch (const std::exception&) {
    // Without memory for it, the reply has no such field.
  }
}

}  // namespace nereid::frontend::http
