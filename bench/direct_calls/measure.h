// SPDX-License-Identifier: Apache-2.0
// The measurement that all programs of this folder share: a loop of a framework's own call, without
// a server.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace nereid::bench {

/// Returns the CPU time of this process, all threads, in microseconds.
inline double CpuUs() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

/// Exits with a line on stderr.
[[noreturn]] inline void Fail(const std::string& reason) {
  std::fprintf(stderr, "%s\n", reason.c_str());
  std::exit(1);
}

/// Calls `run` in seven rounds of `calls` each and prints the CPU time of one call as JSON:
/// minimum, median and maximum of the rounds. The first round is not counted.
template <typename Run>
int PrintCpuPerCall(int calls, Run&& run) {
  std::vector<double> rounds;
  for (int round = 0; round < 7; ++round) {
    const double begin = CpuUs();
    for (int i = 0; i < calls; ++i) run();
    rounds.push_back((CpuUs() - begin) / calls);
  }
  rounds.erase(rounds.begin());
  std::sort(rounds.begin(), rounds.end());
  std::printf("{\"min\": %.3f, \"median\": %.3f, \"max\": %.3f}\n", rounds.front(),
              rounds[rounds.size() / 2], rounds.back());
  return 0;
}

}  // namespace nereid::bench
