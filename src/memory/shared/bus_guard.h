// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace nereid::memory {

/// The maximum number of memory ranges that are guarded at the same time.
inline constexpr size_t kMaxGuardedRanges = 4096;

/// Installs the process's handler of SIGBUS, once; further calls do nothing. The kernel sends
/// SIGBUS to a thread that touches a page of a mapped file which the file does not have (another
/// process has made it smaller) or which the file system cannot provide (it is full). If the
/// address is in a GuardedRange, the handler puts zero pages in place of the whole range, marks the
/// range as broken, and the thread goes on. Every other SIGBUS goes to the handler that was
/// installed before, or ends the process as without this function.
base::Status InstallBusGuard();

/// A range of mapped memory for which a SIGBUS does not end the process. Move-only. The range must
/// stay mapped as long as the object, and no other thread may touch it when the object is
/// destroyed. Without InstallBusGuard() the object has no effect.
class GuardedRange {
 public:
  GuardedRange() = default;
  /// Returns UNAVAILABLE if kMaxGuardedRanges objects exist. `data` is the start of a page, and the
  /// range includes the rest of its last page.
  static base::Result<GuardedRange> Claim(void* data, size_t size);
  GuardedRange(GuardedRange&& other) noexcept;
  GuardedRange& operator=(GuardedRange&& other) noexcept;
  ~GuardedRange() { Release(); }

  /// Returns whether a page was missing. All bytes of the range are then the process's own, and
  /// were zero at first. Any thread may call it.
  bool IsBroken() const;

 private:
  explicit GuardedRange(size_t slot) : slot_(slot) {}
  void Release();

  static constexpr size_t kNone = SIZE_MAX;
  size_t slot_ = kNone;
};

}  // namespace nereid::memory
