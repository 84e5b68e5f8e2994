// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace nereid::base {

/// Returns how many bytes of memory this process may use: the machine's physical memory, or the
/// smallest limit of the process's control groups (version 2 or 1) if that is less.
uint64_t UsableMemoryBytes();

/// Returns how many bytes of memory this process occupies; 0 if the system does not tell.
uint64_t ResidentMemoryBytes();

/// Returns the smallest limit that the control groups under `root` (usually /sys/fs/cgroup) set for
/// a process whose /proc/self/cgroup contains `membership`, or UINT64_MAX. The format is described
/// in cgroups(7).
uint64_t ControlGroupLimit(const std::string& root, const std::string& membership);

}  // namespace nereid::base
