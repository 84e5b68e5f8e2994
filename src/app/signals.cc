// SPDX-License-Identifier: Apache-2.0
#include "app/signals.h"

#include <signal.h>
#include <unistd.h>

#include "base/log.h"
#include "base/threads.h"

namespace nereid::app {
namespace {

sigset_t EndSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

int WaitForEndSignal() {
  const sigset_t set = EndSignals();
  int number = 0;
  while (sigwait(&set, &number) != 0) {
  }
  return number;
}

}  // namespace

SignalWaiter::SignalWaiter() {
  const sigset_t set = EndSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

int SignalWaiter::Wait() { return WaitForEndSignal(); }

void SignalWaiter::WatchImpatience() {
  auto watcher = base::StartThread("signals", [] {
    WaitForEndSignal();
    LOG_INFO << "waiting for requests in flight and for models to unload; signal once more to exit "
                "at once";
    WaitForEndSignal();
    _exit(1);
  });
  if (watcher.ok()) {
    watcher->detach();
  } else {
    LOG_WARNING << watcher.status().message() << "; a second signal will not end the server";
  }
}

}  // namespace nereid::app
