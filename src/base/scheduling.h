// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace nereid::base {

/// How the kernel schedules a thread: struct sched_attr of sched_setattr(2), whose declaration
/// differs between C libraries.
struct SchedulingAttributes {
  uint32_t size = sizeof(SchedulingAttributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;  // of real-time policies
  // Nanoseconds. For an ordinary thread, how long it runs at a time while others want its CPU;
  // 0: the kernel's own value. Linux before 6.12 ignores it and reports 0.
  uint64_t runtime = 0;
  uint64_t deadline = 0;
  uint64_t period = 0;
};

/// Returns the attributes of the calling thread; nothing if the kernel does not tell.
std::optional<SchedulingAttributes> ReadScheduling();

/// Gives the calling thread these attributes. Kernels and sandboxes without the call leave it as it
/// is.
void SetScheduling(const SchedulingAttributes& attributes);

/// Returns the attributes of a thread that has `now` and gets other time slices, which the threads
/// and processes that it starts do not inherit. The kernel accepts 0.1 to 100 ms. Returns nothing
/// if the thread should stay as it is, because an operator has given the process a real-time
/// policy, another policy or a raised priority (which new threads would not inherit any more).
std::optional<SchedulingAttributes> WithSlice(const SchedulingAttributes& now, uint64_t slice_ns);

/// Makes the calling thread run soon after it wakes up, also where other threads want its CPU: its
/// time slices are the shortest that the kernel has, 0.1 ms. It gets no more of the CPU than
/// before, but in smaller pieces. For threads that wake up often and work for microseconds. Has no
/// effect on Linux before 6.12.
void WakePromptly();

}  // namespace nereid::base
