// SPDX-License-Identifier: Apache-2.0
#include "base/background.h"

#include <sched.h>

#include <cstdint>

namespace nereid::base {
namespace {

/// A thread that wakes up takes the CPU from one with a longer slice without waiting for the end of
/// that slice. The kernel accepts up to 100 ms. This is several times its own value, and short
/// enough for a thread that waits for a lock which a background thread holds.
constexpr uint64_t kLongSliceNs = 20'000'000;

}  // namespace

// A thread that yields gives up its claim on the rest of its slice, as if it had used the CPU for
// so long. Without this it has the same claim as the thread of a request, and where that thread has
// used the CPU for more than half of the last milliseconds, it waits although it has just woken up.
void LetOthersGoFirst() { sched_yield(); }

ScopedBackground::ScopedBackground() {
  const auto now = ReadScheduling();
  if (!now) return;
  const auto background = WithSlice(*now, kLongSliceNs);
  if (!background) return;
  SetScheduling(*background);
  before_ = background;
  before_->runtime = now->runtime;
  LetOthersGoFirst();
}

ScopedBackground::~ScopedBackground() {
  if (before_) SetScheduling(*before_);
}

}  // namespace nereid::base
