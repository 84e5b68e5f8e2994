// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/metrics_handler.h"

#include <string_view>
#include <utility>

#include "frontend/http/off_loop.h"

namespace nereid::frontend::metrics {
namespace {

class MetricsHandler final : public http::HttpHandler {
 public:
  explicit MetricsHandler(std::function<std::string()> make_text)
      : make_text_(std::move(make_text)) {}

  void Handle(http::Exchange& exchange) override {
    http::LogRequest(exchange.head());
    http::Reply& reply = exchange.reply();
    const std::string_view path = exchange.head().path();
    if (exchange.head().method != http::Method::kGet) {
      reply.SetError(405, "text/plain", "Method Not Allowed");
      return exchange.Finish();
    }
    reply.content_type = "text/plain; charset=utf-8";
    if (path != "/metrics" && path != "/metrics/") return exchange.Finish();
    worker_.Run(exchange, [this, &reply] { reply.text << make_text_(); });
  }

  // Not called: the handler submits no inference request.
  bool MakeInferenceReply(http::Exchange&, std::unique_ptr<request::InferenceResponse>,
                          int) override {
    return true;
  }
  void Stop() override { worker_.Stop(); }

 private:
  const std::function<std::string()> make_text_;
  http::OffLoop worker_{"metrics-page", 1};  // a server with many models has a long page
};

}  // namespace

std::shared_ptr<http::HttpHandler> MakeMetricsHandler(std::function<std::string()> make_text) {
  return std::make_shared<MetricsHandler>(std::move(make_text));
}

}  // namespace nereid::frontend::metrics
