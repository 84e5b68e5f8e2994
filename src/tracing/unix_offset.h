// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace nereid::tracing {

/// Returns the nanoseconds from the monotonic clock's time to the time since the Unix epoch. It
/// changes when the system's time is set, so each trace asks once.
inline int64_t UnixOffsetNs() {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count() -
         static_cast<int64_t>(base::SteadyClock().NowNs());
}

}  // namespace nereid::tracing
