// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/access/access_gate.h"
#include "frontend/http/http_handler.h"
#include "telemetry/exposition.h"

namespace nereid::frontend::metrics {

/// The only path of the metrics port. It may end with a slash.
inline constexpr std::string_view kMetricsPath = "/metrics";
/// What it does.
inline constexpr api::Operation kMetricsOperation = api::Operation::kMetrics;

/// Returns the page of one scrape in a format.
using MakePage = std::function<std::string(telemetry::Exposition)>;

/// Makes a handler for the metrics port. It answers GET /metrics with the page that `make_page`
/// returns, in the format that the field Accept asks for, and other paths with an empty body. One
/// thread of the handler calls `make_page`. `gate` decides who may read the page; null: everyone.
std::shared_ptr<http::HttpHandler> MakeMetricsHandler(
    MakePage make_page, std::shared_ptr<const api::AccessGate> gate = nullptr);

}  // namespace nereid::frontend::metrics
