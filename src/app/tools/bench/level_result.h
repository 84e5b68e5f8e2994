// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/tools/remote/model_counters.h"
#include "load/histogram.h"

namespace nereid::app::tools {

/// What was counted in one window of time.
struct LoadWindow {
  double seconds = 0;
  uint64_t answers = 0;
  uint64_t errors = 0;
  load::Histogram latencies;

  double Throughput() const { return static_cast<double>(answers) / seconds; }
};

/// The number of windows that must agree, and of which the result is made.
inline constexpr size_t kStableWindows = 3;

/// Returns whether the last kStableWindows windows agree: throughput and mean latency of each are
/// within `tolerance` (0.1 for 10 %) of their mean. False for fewer windows, and if one is empty.
bool IsStable(const std::vector<LoadWindow>& windows, double tolerance);

/// Returns the last kStableWindows windows as one.
LoadWindow Merged(const std::vector<LoadWindow>& windows);

/// One level of load and what came of it.
struct LevelResult {
  double level = 0;  // requests in flight, or requests per second
  bool is_rate = false;
  uint64_t batch = 1;  // inferences of a request
  bool is_stable = false;
  size_t windows = 0;  // how many were measured
  LoadWindow total;    // Merged
  std::string first_error;
  uint64_t most_late = 0;    // of a rate: requests that waited for a connection at once
  double client_cpu_us = 0;  // for a request
  // What the server counted after the warm-up; nothing if it does not show it.
  std::optional<ModelCounters> server;
};

/// Mean times of a request in the server, in microseconds, and the mean batch.
struct ServerTimes {
  double queue_us = 0, input_us = 0, infer_us = 0, output_us = 0, batch = 0;
};
/// Returns nothing if the server counted no request.
std::optional<ServerTimes> TimesOf(const LevelResult& result);

}  // namespace nereid::app::tools
