// SPDX-License-Identifier: Apache-2.0
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <utility>

namespace nereid::base {

std::thread StartThread(const std::string& name, std::function<void()> body,
                        const CpuPlacement& placement) {
  if (!placement.empty()) {
    body = [placement, body = std::move(body)] {
      (void)PlaceThisThread(placement);
      body();
    };
  }
  sigset_t block, previous;
  sigemptyset(&block);
  sigaddset(&block, SIGINT);
  sigaddset(&block, SIGTERM);
  sigaddset(&block, SIGHUP);
  // The mask is inherited, so it is set around the creation rather than inside the new thread,
  // where a signal could still arrive before the first statement.
  pthread_sigmask(SIG_BLOCK, &block, &previous);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  pthread_setname_np(thread.native_handle(), name.substr(0, 15).c_str());
  return thread;
}

int AvailableCpuCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace nereid::base
