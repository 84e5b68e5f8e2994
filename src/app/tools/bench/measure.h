// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "app/tools/bench/level_result.h"
#include "app/tools/bench/load_target.h"
#include "base/result.h"
#include "load/connection.h"

namespace nereid::app::tools {

/// How each level is measured.
struct MeasureSettings {
  double warmup_seconds = 1;
  double window_seconds = 2;
  double tolerance = 0.1;  // of windows that agree
  size_t max_windows = 10;
  size_t connections = 64;  // of a rate
  bool is_poisson = false;
  uint64_t batch = 1;
  int sequence_length = 0;  // requests of a sequence; 0: no sequences
};

/// What is sent.
struct LoadRequest {
  LoadTarget target;
  std::string bytes;                                      // of each request
  std::function<std::string(load::Turn turn)> make_turn;  // of sequences
};

/// Reads the counters of the model; nothing if the server does not show them.
using ReadCounters = std::function<std::optional<ModelCounters>()>;

/// Measures one level: warms up, then measures windows until the last three agree. `level` is the
/// number of requests in flight, or of requests per second if `is_rate`. Returns UNAVAILABLE if the
/// server takes no connections or answers almost nothing.
base::Result<LevelResult> MeasureLevel(const LoadRequest& request, double level, bool is_rate,
                                       const MeasureSettings& settings,
                                       const ReadCounters& read_counters,
                                       const std::function<void(const std::string&)>& progress);

}  // namespace nereid::app::tools
