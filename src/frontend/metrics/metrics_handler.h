// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "api/access/access_gate.h"
#include "frontend/http/http_handler.h"
#include "frontend/metrics/metrics_page.h"

namespace nereid::frontend::metrics {

/// The only path of the metrics port. It may end with a slash.
inline constexpr std::string_view kMetricsPath = "/metrics";

/// Makes a handler for the metrics port. It answers GET /metrics with the MetricsPage of these
/// arguments, and other paths with an empty body.
std::shared_ptr<http::HttpHandler> MakeMetricsHandler(
    MakePage make_page, std::shared_ptr<const api::AccessGate> gate = nullptr);

}  // namespace nereid::frontend::metrics
