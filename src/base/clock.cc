// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <chrono>

namespace nereid::base {
namespace {

class MachineClock final : public Clock {
 public:
  uint64_t NowNs() const override {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
  }
  uint64_t WallMs() const override {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
  }
};

}  // namespace

const Clock& SteadyClock() {
  // Never destroyed: threads may read the time until the process has ended.
  static const MachineClock& clock = *new MachineClock();
  return clock;
}

}  // namespace nereid::base
