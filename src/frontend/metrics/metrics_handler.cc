// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/metrics_handler.h"

#include <string_view>
#include <utility>

#include "frontend/http/admission.h"
#include "frontend/http/off_loop.h"
#include "frontend/metrics/choose_exposition.h"

namespace nereid::frontend::metrics {
namespace {

class MetricsHandler final : public http::HttpHandler {
 public:
  MetricsHandler(MakePage make_page, std::shared_ptr<const api::AccessGate> gate)
      : make_page_(std::move(make_page)), gate_(std::move(gate)) {}

  void Handle(http::Exchange& exchange) override {
    http::LogRequest(exchange.head());
    http::Reply& reply = exchange.reply();
    std::string_view path = exchange.head().path();
    if (path.ends_with('/')) path.remove_suffix(1);
    const bool is_page = path == kMetricsPath;
    if (is_page && !http::Admit(gate_.get(), kMetricsOperation, exchange)) {
      return exchange.Finish();
    }
    if (exchange.head().method != http::Method::kGet) {
      reply.SetError(405, "text/plain", "Method Not Allowed");
      return exchange.Finish();
    }
    reply.content_type = telemetry::ContentType(telemetry::Exposition::kPrometheusText);
    if (!is_page) return exchange.Finish();
    const telemetry::Exposition exposition = ChooseExposition(exchange.head().accept);
    reply.content_type = telemetry::ContentType(exposition);
    worker_.Run(exchange, [this, &reply, exposition] { reply.text << make_page_(exposition); });
  }

  // Not called: the handler submits no inference request.
  bool MakeInferenceReply(http::Exchange&, std::unique_ptr<request::InferenceResponse>,
                          int) override {
    return true;
  }
  void Stop() override { worker_.Stop(); }

 private:
  const MakePage make_page_;
  const std::shared_ptr<const api::AccessGate> gate_;
  http::OffLoop worker_{"metrics-page", 1};  // a server with many models has a long page
};

}  // namespace

std::shared_ptr<http::HttpHandler> MakeMetricsHandler(MakePage make_page,
                                                      std::shared_ptr<const api::AccessGate> gate) {
  return std::make_shared<MetricsHandler>(std::move(make_page), std::move(gate));
}

}  // namespace nereid::frontend::metrics
