// SPDX-License-Identifier: Apache-2.0
#include "model/first_response.h"

#include <string>
#include <utility>

#include "config/metric_families.h"
#include "model_config.pb.h"
#include "request/forwarding_sink.h"
#include "request/response_factory.h"
#include "request/trace.h"

namespace nereid::model {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;

std::vector<double> DefaultBuckets() { return {100, 500, 2000, 5000}; }

/// The innermost wrapper of the front end's sink.
class FirstResponseSink final : public request::ForwardingSink {
 public:
  FirstResponseSink(std::shared_ptr<request::ResponseSink> next, const base::Clock& clock,
                    uint64_t start_ns, std::shared_ptr<telemetry::Histogram> histogram,
                    std::string trace_id)
      : ForwardingSink(std::move(next)),
        clock_(clock),
        start_ns_(start_ns),
        histogram_(std::move(histogram)),
        trace_id_(std::move(trace_id)) {}

  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override {
    if (response != nullptr && !std::exchange(seen_, true)) {
      Observe(static_cast<double>((clock_.NowNs() - start_ns_) / kNsPerMs));
    }
    ForwardingSink::Send(std::move(response), final);
  }

 private:
  void Observe(double milliseconds) {
    if (trace_id_.empty()) return histogram_->Observe(milliseconds);
    histogram_->Observe(telemetry::Exemplar{std::move(trace_id_), milliseconds, clock_.WallMs()});
  }

  const base::Clock& clock_;
  const uint64_t start_ns_;
  const std::shared_ptr<telemetry::Histogram> histogram_;
  std::string trace_id_;  // empty for most requests
  bool seen_ = false;     // no lock: responses of one request are sent one at a time
};

}  // namespace

std::vector<double> FirstResponseBuckets(const config::ModelConfig& config) {
  std::vector<double> bounds;
  for (const auto& control : config.proto().model_metrics().metric_control()) {
    if (control.metric_identifier().family() != config::kFirstResponseFamily) continue;
    const auto& buckets = control.histogram_options().buckets();
    bounds.assign(buckets.begin(), buckets.end());
  }
  if (bounds.empty()) return DefaultBuckets();
  auto checked = telemetry::Histogram::CheckBounds(std::move(bounds));
  return checked.ok() ? std::move(checked).value() : DefaultBuckets();
}

FirstResponseTimes::FirstResponseTimes(const base::Clock& clock, std::vector<double> buckets)
    : clock_(clock), histogram_(std::make_shared<telemetry::Histogram>(std::move(buckets))) {}

void FirstResponseTimes::Watch(request::InferenceRequest& request) const {
  request::ResponseFactory& factory = *request.response_factory();
  std::string trace_id;
  if (request.trace() != nullptr) trace_id = request.trace()->listener().GlobalTraceId();
  factory.WrapSink(std::make_shared<FirstResponseSink>(
      factory.shared_sink(), clock_, request.times.start_ns, histogram_, std::move(trace_id)));
}

}  // namespace nereid::model
