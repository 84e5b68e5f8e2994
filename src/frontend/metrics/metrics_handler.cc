// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/metrics_handler.h"

#include <string_view>
#include <utility>

#include "telemetry/exposition.h"

namespace nereid::frontend::metrics {
namespace {

class MetricsHandler final : public http::HttpHandler {
 public:
  MetricsHandler(MakePage make_page, std::shared_ptr<const api::AccessGate> gate)
      : page_(std::move(make_page), std::move(gate)) {}

  void Handle(http::Exchange& exchange) override {
    http::LogRequest(exchange.head());
    std::string_view path = exchange.head().path().text();
    if (path.ends_with('/')) path.remove_suffix(1);
    const bool is_page = path == kMetricsPath;
    if (is_page && !page_.Admits(exchange)) return exchange.Finish();
    if (!http::IsRead(exchange.head().method)) {
      exchange.reply().SetError(405, "text/plain", "Method Not Allowed");
      exchange.reply().extra_fields = "Allow: GET, HEAD\r\n";
      return exchange.Finish();
    }
    if (is_page) return page_.Serve(exchange);
    exchange.reply().content_type = telemetry::ContentType(telemetry::Exposition::kPrometheusText);
    exchange.Finish();
  }

  // Not called: the handler submits no inference request.
  bool MakeInferenceReply(http::Exchange&, std::unique_ptr<request::InferenceResponse>,
                          int) override {
    return true;
  }
  void Stop() override { page_.Stop(); }

 private:
  MetricsPage page_;
};

}  // namespace

std::shared_ptr<http::HttpHandler> MakeMetricsHandler(MakePage make_page,
                                                      std::shared_ptr<const api::AccessGate> gate) {
  return std::make_shared<MetricsHandler>(std::move(make_page), std::move(gate));
}

}  // namespace nereid::frontend::metrics
