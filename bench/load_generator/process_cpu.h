// SPDX-License-Identifier: Apache-2.0
// The resources that a process has used.
#pragma once

#include <cstdint>
#include <optional>

namespace nereid::bench {

struct ProcessCpu {
  // Includes all threads, also those that have ended. Resolution: one clock tick, 10,000 us.
  uint64_t user_us = 0;
  uint64_t system_us = 0;
};

/// Reads /proc/PID/stat. Returns nothing if there is no such process.
std::optional<ProcessCpu> ReadProcessCpu(int pid);

}  // namespace nereid::bench
