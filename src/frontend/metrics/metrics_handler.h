// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "frontend/http/http_handler.h"

namespace nereid::frontend::metrics {

/// Serves GET /metrics with what `make_text` returns, Prometheus text; it is called by one thread
/// of the handler's own. Other paths get an empty answer. For an http::HttpServer on the metrics
/// port.
std::shared_ptr<http::HttpHandler> MakeMetricsHandler(std::function<std::string()> make_text);

}  // namespace nereid::frontend::metrics
