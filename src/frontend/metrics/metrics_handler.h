// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "frontend/http/http_handler.h"

namespace nereid::frontend::metrics {

/// Makes a handler for the metrics port. It answers GET /metrics with the text that `make_text`
/// returns, in Prometheus' format, and other paths with an empty body. One thread of the handler
/// calls `make_text`.
std::shared_ptr<http::HttpHandler> MakeMetricsHandler(std::function<std::string()> make_text);

}  // namespace nereid::frontend::metrics
