// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/cpus.h"
#include "base/result.h"

namespace nereid::base {

/// Starts a thread. All threads of the server are started here. `name` is shown by top and by
/// debuggers; its first 15 characters are used. SIGINT, SIGTERM and SIGHUP are blocked in the new
/// thread, so only the main thread receives them. An exception that leaves `body` ends the process,
/// as with any std::thread. `placement` says where the thread may run; a part of it that the system
/// refuses is ignored (see CheckPlacement). Returns UNAVAILABLE with the thread's name and the
/// reason when the system provides no further thread (its limit on threads or memory is reached).
/// `body` does not run then.
Result<std::thread> StartThread(const std::string& name, std::function<void()> body,
                                const CpuPlacement& placement = {});

/// Makes the calling thread give way: a thread that wakes up, of this process or of another one,
/// gets the CPU within a tenth of a millisecond instead of after up to four. Where all CPUs are
/// busy, this thread gets a tenth of what another one gets; idle CPUs are its own. For threads that
/// compute for milliseconds while event loops must not wait. The threads and processes that it
/// starts inherit this.
void GiveWayToOtherThreads() noexcept;

}  // namespace nereid::base
