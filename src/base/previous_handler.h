// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace nereid::base {

/// Passes a signal on to the handler that was installed before ours. For use in handlers of SIGBUS,
/// SIGFPE and the like that handle some faults only. Async-signal-safe.
///
/// Without a previous handler, the previous disposition is restored: a faulting instruction runs
/// again when our handler returns, and the kernel ends the process. A signal that a process has
/// sent (its code is not positive) belongs to no instruction, so it is raised again.
///
/// @param previous what sigaction() returned when our handler was installed.
inline void CallPreviousHandler(const struct sigaction& previous, int signal, siginfo_t* info,
                                void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    sigaction(signal, &previous, nullptr);
    if (info->si_code <= 0) raise(signal);
  }
}

}  // namespace nereid::base
