// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: a framework's own call, without a server, in a loop.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace nereid::bench {

/// CPU time of this process, all threads, in microseconds.
inline double CpuUs() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

/// Ends the program with a line on stderr.
[[noreturn]] inline void Fail(const std::string& reason) {
  std::fprintf(stderr, "%s\n", reason.c_str());
  std::exit(1);
}

/// Calls `run` in seven rounds of `calls` each, the first not counted, and prints the CPU time of
/// one call as JSON: minimum, median and maximum of the rounds.
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
