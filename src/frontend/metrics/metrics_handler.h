// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/access/access_gate.h"
#include "frontend/http/http_handler.h"

namespace nereid::frontend::metrics {

/// The only path of the metrics port. It may end with a slash.
inline constexpr std::string_view kMetricsPath = "/metrics";
/// What it does.
inline constexpr api::Operation kMetricsOperation = api::Operation::kMetrics;

/// Makes a handler for the metrics port. It answers GET /metrics with the text that `make_text`
/// returns, in Prometheus' format, and other paths with an empty body. One thread of the handler
/// calls `make_text`. `gate` decides who may read the page; null: everyone.
std::shared_ptr<http::HttpHandler> MakeMetricsHandler(
    std::function<std::string()> make_text, std::shared_ptr<const api::AccessGate> gate = nullptr);

}  // namespace nereid::frontend::metrics
