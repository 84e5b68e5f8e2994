// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/cpus.h"
#include "base/result.h"

namespace nereid::base {

/// The one place where threads are made. `name` shows in top and in a debugger (15 characters are
/// kept). Signals that end the server are blocked in the new thread: only the main thread takes
/// them. An exception that leaves `body` ends the process, as for any std::thread.
/// `placement` says where it may run; what cannot be had (see CheckPlacement) is left aside.
/// UNAVAILABLE, naming the thread and the reason, when the system gives no further thread (its
/// limits on threads or on memory are reached): `body` does not run then.
Result<std::thread> StartThread(const std::string& name, std::function<void()> body,
                                const CpuPlacement& placement = {});

/// The number of CPUs this process may run on (its affinity mask), at least 1.
int AvailableCpuCount();

}  // namespace nereid::base
