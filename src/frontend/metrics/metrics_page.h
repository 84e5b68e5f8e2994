// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "api/access/access_gate.h"
#include "frontend/http/exchange.h"
#include "frontend/http/off_loop.h"
#include "telemetry/exposition.h"

namespace nereid::frontend::metrics {

/// What reading the page does.
inline constexpr api::Operation kMetricsOperation = api::Operation::kMetrics;
static_assert(api::FactsOf(kMetricsOperation).cost == api::Cost::kAsksTables,
              "the page has a thread for this cost");

/// Returns the page of one scrape in a format.
using MakePage = std::function<std::string(telemetry::Exposition)>;

/// Replies with the page of metrics, in the format that the field Accept asks for. Thread-safe,
/// except for Stop().
class MetricsPage {
 public:
  /// One thread of the object calls `make_page`. `gate` decides who may read the page; null:
  /// everyone.
  MetricsPage(MakePage make_page, std::shared_ptr<const api::AccessGate> gate)
      : make_page_(std::move(make_page)), gate_(std::move(gate)) {}

  /// Returns whether the caller may read the page. If not, the reply says why.
  bool Admits(http::Exchange& exchange) const;
  /// Replies with the page to a caller that was admitted.
  void Serve(http::Exchange& exchange);
  /// Drops the work that has not begun, and waits for the rest.
  void Stop() { worker_.Stop(); }

 private:
  const MakePage make_page_;
  const std::shared_ptr<const api::AccessGate> gate_;
  http::OffLoop worker_{"metrics-page", 1};  // a server with many models has a long page
};

}  // namespace nereid::frontend::metrics
