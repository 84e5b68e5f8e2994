// SPDX-License-Identifier: Apache-2.0
// The results of a bench for people and programs.
#pragma once

#include <string>
#include <vector>

#include "app/tools/bench/level_result.h"

namespace nereid::app::tools {

/// Return the head of the table and the line of one level. Latencies and times of the server are in
/// milliseconds. Each line can be shown as soon as its level is measured.
std::string LevelHead(bool is_rate);
std::string LevelLine(const LevelResult& result);

/// Returns a plot of the 50th and the 99th percentile of the latency over the throughput, 72
/// columns wide; "" for fewer than two levels.
std::string LatencyPlot(const std::vector<LevelResult>& results);

/// Returns the same as an SVG document. `title` may contain any character.
std::string LatencySvg(const std::vector<LevelResult>& results, const std::string& title);

/// Returns all levels as a JSON object; docs/user/bench.md describes it.
std::string LevelsJson(const std::vector<LevelResult>& results, const std::string& model,
                       const std::string& url);

}  // namespace nereid::app::tools
