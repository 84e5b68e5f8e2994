// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/metrics_page.h"

#include "frontend/http/admission.h"
#include "frontend/metrics/choose_exposition.h"

namespace nereid::frontend::metrics {

bool MetricsPage::Admits(http::Exchange& exchange) const {
  return http::Admit(gate_.get(), kMetricsOperation, exchange);
}

void MetricsPage::Serve(http::Exchange& exchange) {
  http::Reply& reply = exchange.reply();
  const telemetry::Exposition exposition = ChooseExposition(exchange.head().accept);
  reply.content_type = telemetry::ContentType(exposition);
  worker_.Run(exchange, [this, &reply, exposition] { reply.text << make_page_(exposition); });
}

}  // namespace nereid::frontend::metrics
