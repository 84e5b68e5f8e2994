// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "api/trace_settings.h"
#include "app/options/server_options.h"
#include "base/result.h"
#include "telemetry/metrics.h"
#include "tracing/span_exporter.h"

namespace nereid::app {

/// Returns the trace settings of the command line. Logs a warning if no request can be traced with
/// them although a level is on.
api::TraceSettings TraceSettingsFrom(const TraceOptions& options);

/// The exporter of spans and its metrics; both null in mode triton.
struct SpanExport {
  std::shared_ptr<tracing::SpanExporter> exporter;
  std::unique_ptr<telemetry::ScopedCollector> metrics;

  /// Sends what is queued, until `deadline_ns` (monotonic) at the latest.
  void Stop(uint64_t deadline_ns) const;
};

/// Starts the exporter that the options ask for. `version` is the server's. Returns an error whose
/// text is a line for the log.
base::Result<SpanExport> StartSpanExport(const TraceOptions& options, const std::string& version);

}  // namespace nereid::app
