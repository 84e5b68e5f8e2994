// SPDX-License-Identifier: Apache-2.0
#include "app/tools/bench/level_result.h"

#include <algorithm>
#include <cmath>

namespace nereid::app::tools {
namespace {

size_t FirstOfLast(const std::vector<LoadWindow>& windows) {
  return windows.size() - std::min(windows.size(), kStableWindows);
}

/// Returns whether a number of the last windows is within `tolerance` of its mean in each.
template <typename Number>
bool Agree(const std::vector<LoadWindow>& windows, double tolerance, Number&& number) {
  double sum = 0;
  for (size_t i = FirstOfLast(windows); i < windows.size(); ++i) sum += number(windows[i]);
  const double mean = sum / kStableWindows;
  return std::all_of(windows.begin() + static_cast<long>(FirstOfLast(windows)), windows.end(),
                     [&](const LoadWindow& window) {
                       return std::abs(number(window) - mean) <= tolerance * mean;
                     });
}

}  // namespace

bool IsStable(const std::vector<LoadWindow>& windows, double tolerance) {
  if (windows.size() < kStableWindows) return false;
  for (size_t i = FirstOfLast(windows); i < windows.size(); ++i) {
    if (windows[i].answers == 0) return false;
  }
  return Agree(windows, tolerance, [](const LoadWindow& w) { return w.Throughput(); }) &&
         Agree(windows, tolerance, [](const LoadWindow& w) { return w.latencies.Mean(); });
}

LoadWindow Merged(const std::vector<LoadWindow>& windows) {
  LoadWindow total;
  for (size_t i = FirstOfLast(windows); i < windows.size(); ++i) {
    total.seconds += windows[i].seconds;
    total.answers += windows[i].answers;
    total.errors += windows[i].errors;
    total.latencies.Add(windows[i].latencies);
  }
  return total;
}

std::optional<ServerTimes> TimesOf(const LevelResult& result) {
  if (!result.server || result.server->success.count == 0) return std::nullopt;
  const ModelCounters& server = *result.server;
  const auto mean_us = [&](const DurationCounter& counter) {
    return static_cast<double>(counter.ns) / 1e3 / static_cast<double>(server.success.count);
  };
  ServerTimes times{mean_us(server.queue), mean_us(server.compute_input),
                    mean_us(server.compute_infer), mean_us(server.compute_output), 0};
  if (server.executions > 0) {
    times.batch = static_cast<double>(server.inferences) / static_cast<double>(server.executions);
  }
  return times;
}

}  // namespace nereid::app::tools
