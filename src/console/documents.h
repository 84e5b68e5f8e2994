// SPDX-License-Identifier: Apache-2.0
// The JSON documents of the console; docs/user/console.md describes them. Texts that come from
// models, clients and plug-ins may contain any bytes: those that are not UTF-8 become U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/access/role.h"
#include "api/metadata.h"
#include "base/log_tail.h"
#include "console/console_source.h"
#include "console/series.h"
#include "console/trace_store.h"
#include "telemetry/model_statistics.h"

namespace nereid::console {

/// What the process used in the last second.
struct ProcessUse {
  double cpus = 0;            // seconds of processor time per second
  uint64_t memory_bytes = 0;  // resident
};

/// Who the caller is, and what this server is.
struct Session {
  api::RoleSet roles;
  bool is_guarded = false;  // callers need a token, a certificate or a user
  bool serves_management = true;
  api::ServerMetadata server;
};
std::string SessionDocument(const Session& session);

/// Returns series. Points are arrays in the order of the member "fields".
std::string SeriesDocument(const std::vector<SeriesStore::Series>& series, size_t omitted);

/// Returns the data of an event with the newest points.
std::string SampleDocument(const std::vector<SeriesStore::Newest>& points, const ProcessUse& use,
                           uint64_t time_ms);

/// Returns the counters, queues, batches, sequences and cores of the versions of a model.
std::string ModelStateDocument(const std::vector<telemetry::ModelStatistics>& versions,
                               const std::vector<CoreShare>& shares);

/// Returns lines of the log, of which the texts of the newest have `max_bytes` at most. `last` is
/// the number of the newest line that exists.
std::string LogDocument(const std::vector<base::TailLine>& lines, uint64_t last, size_t max_bytes);

/// Returns the traces without their inner spans.
std::string TracesDocument(const std::vector<TraceStore::Trace>& traces);

/// Returns the spans of a trace. Times are in microseconds since the trace's first span began.
std::string TraceDocument(const TraceStore::Trace& trace);

}  // namespace nereid::console
