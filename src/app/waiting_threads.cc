// SPDX-License-Identifier: Apache-2.0
#include "app/waiting_threads.h"

#include <cstdlib>

namespace nereid::app {
namespace {

/// Pauses of the processor before a thread of GNU's OpenMP sleeps: 10 to 50 microseconds.
constexpr const char* kSpins = "1000";

}  // namespace

std::vector<EnvironmentVariable> SleepingOpenMpThreads(
    const std::function<const char*(const char* name)>& find) {
  // GNU's library (PyTorch) spins for milliseconds at the end of each parallel part by default. If
  // the cores are busy, the spinning threads take the time slices of the thread that they wait for,
  // and a request takes up to a hundred times as long. Sleeping at once makes a request of many
  // short parts slow, because waking a thread takes tens of microseconds. OMP_WAIT_POLICY is the
  // variable of the OpenMP standard; the others are those of GNU's and LLVM's libraries, which
  // override it.
  for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"}) {
    if (find(name) != nullptr) return {};
  }
  return {{"OMP_WAIT_POLICY", "PASSIVE"}, {"GOMP_SPINCOUNT", kSpins}};
}

void LetOpenMpThreadsSleep() {
  for (const auto& variable :
       SleepingOpenMpThreads([](const char* name) { return ::getenv(name); })) {
    ::setenv(variable.name, variable.value, /*overwrite=*/0);
  }
}

}  // namespace nereid::app
