// SPDX-License-Identifier: Apache-2.0
#include "base/scheduling.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nereid::base {
namespace {

/// SCHED_FLAG_RESET_ON_FORK: new threads and processes get the kernel's own slice. A thread without
/// privileges cannot remove the flag again.
constexpr uint64_t kResetOnFork = 1;
constexpr uint64_t kShortSliceNs = 100'000;

}  // namespace

std::optional<SchedulingAttributes> ReadScheduling() {
  SchedulingAttributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0U) != 0) return std::nullopt;
  attributes.size = sizeof(attributes);
  return attributes;
}

void SetScheduling(const SchedulingAttributes& attributes) {
  (void)syscall(SYS_sched_setattr, 0, &attributes, 0U);
}

std::optional<SchedulingAttributes> WithSlice(const SchedulingAttributes& now, uint64_t slice_ns) {
  if (now.policy != SCHED_OTHER || now.nice < 0) return std::nullopt;
  SchedulingAttributes sliced = now;
  sliced.flags |= kResetOnFork;
  sliced.runtime = slice_ns;
  return sliced;
}

// A thread that wakes up takes the CPU from one with longer slices at once. From one with slices as
// long as its own it usually has to wait until that one's slice is over.
void WakePromptly() {
  const auto now = ReadScheduling();
  if (!now) return;
  if (const auto prompt = WithSlice(*now, kShortSliceNs)) SetScheduling(*prompt);
}

}  // namespace nereid::base
