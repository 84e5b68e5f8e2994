// SPDX-License-Identifier: Apache-2.0
// What a process has used so far.
#pragma once

#include <cstdint>
#include <optional>

namespace nereid::bench {

struct ProcessCpu {
  // Of all its threads, also of those that have ended. Resolution: one clock tick, 10,000 us.
  uint64_t user_us = 0;
  uint64_t system_us = 0;
};

/// Reads /proc/PID/stat; nothing when there is no such process.
std::optional<ProcessCpu> ReadProcessCpu(int pid);

}  // namespace nereid::bench
