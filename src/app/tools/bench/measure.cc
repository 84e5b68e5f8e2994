// SPDX-License-Identifier: Apache-2.0
#include "app/tools/bench/measure.h"

#include <sys/resource.h>

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "app/tools/bench/load_levels.h"
#include "app/tools/remote/terminal_text.h"
#include "load/load_loop.h"

namespace nereid::app::tools {
namespace {

using base::Status;

constexpr uint64_t kPatienceNs = 60'000'000'000;

double CpuMicroseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto microseconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
}

Status Unreachable(const load::LoadLoop& loop) {
  return Status::Unavailable(TerminalText(loop.error(), 500));
}

/// Takes what was counted since the last call out of the run.
LoadWindow TakeWindow(load::Run& run, uint64_t* errors_before, double seconds) {
  LoadWindow window;
  window.seconds = seconds;
  window.answers = std::exchange(run.answers_in_window, 0);
  window.errors = run.errors - std::exchange(*errors_before, run.errors);
  window.latencies = std::exchange(run.latencies, load::Histogram());
  return window;
}

/// Measures windows until the last ones agree.
Status MeasureWindows(load::Run& run, load::LoadLoop& loop, const MeasureSettings& settings,
                      const std::function<void(const std::string&)>& progress,
                      std::vector<LoadWindow>* windows) {
  uint64_t errors = run.errors;
  TakeWindow(run, &errors, 1);
  uint64_t begin_ns = load::NowNs();
  while (windows->size() < settings.max_windows && !IsStable(*windows, settings.tolerance)) {
    const uint64_t end_ns = begin_ns + static_cast<uint64_t>(settings.window_seconds * 1e9);
    if (!loop.RunUntil(end_ns)) return Unreachable(loop);
    const uint64_t now_ns = load::NowNs();
    windows->push_back(TakeWindow(run, &errors, static_cast<double>(now_ns - begin_ns) / 1e9));
    begin_ns = now_ns;
    if (!progress) continue;
    char text[100];
    std::snprintf(text, sizeof(text), "  window %zu: %.1f requests per second, %.3f ms",
                  windows->size(), windows->back().Throughput(),
                  windows->back().latencies.Mean() / 1e6);
    progress(text);
  }
  return {};
}

/// Makes the state of a load in the form of the request.
std::unique_ptr<load::Run> MakeRun(const LoadRequest& request, const MeasureSettings& settings) {
  auto run = std::make_unique<load::Run>();
  run->target = request.target.target;
  run->request = request.bytes;
  run->sequence = settings.sequence_length;
  run->make_request = request.make_turn;
  // Sequences of an earlier level, which was cut off, may still live in the server.
  static uint64_t sequences = 0;
  run->last_sequence_id = sequences;
  sequences += 1'000'000;
  return run;
}

}  // namespace

base::Result<LevelResult> MeasureLevel(const LoadRequest& request, double level, bool is_rate,
                                       const MeasureSettings& settings,
                                       const ReadCounters& read_counters,
                                       const std::function<void(const std::string&)>& progress) {
  const auto run = MakeRun(request, settings);
  load::LoadLoop loop(*run, is_rate ? settings.connections : static_cast<size_t>(level));
  if (!loop.Connect()) return Unreachable(loop);
  if (is_rate) {
    loop.StartScheduled(DueTimes(level, settings.is_poisson, load::NowNs()));
  } else {
    loop.StartClosed();
  }
  if (!loop.RunUntil(load::NowNs() + static_cast<uint64_t>(settings.warmup_seconds * 1e9))) {
    return Unreachable(loop);
  }
  const auto before = read_counters();
  loop.TakeMostLate();
  const uint64_t answers_before = run->answers;
  const double cpu_before_us = CpuMicroseconds();
  std::vector<LoadWindow> windows;
  NEREID_RETURN_IF_ERROR(MeasureWindows(*run, loop, settings, progress, &windows));
  const double cpu_us = CpuMicroseconds() - cpu_before_us;
  LevelResult result;
  result.level = level;
  result.is_rate = is_rate;
  result.batch = settings.batch;
  result.is_stable = IsStable(windows, settings.tolerance);
  result.windows = windows.size();
  result.total = Merged(windows);
  result.most_late = loop.TakeMostLate();
  const uint64_t answers = run->answers - answers_before;
  if (answers > 0) result.client_cpu_us = cpu_us / static_cast<double>(answers);
  const auto after = read_counters();
  if (before && after) result.server = Difference(*before, *after);
  if (!loop.Drain(kPatienceNs)) return Unreachable(loop);
  result.first_error = TerminalText(run->first_error, 500);
  return result;
}

}  // namespace nereid::app::tools
