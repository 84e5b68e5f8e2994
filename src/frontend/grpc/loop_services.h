// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "frontend/grpc/loop_inbox.h"

namespace nereid::frontend::grpc {

/// Something that waits for a time.
class Timed {
 public:
  virtual void OnDeadline() = 0;

 protected:
  ~Timed() = default;
};

/// A part of an event loop's state that calls and sessions see. All functions but `inbox()` on the
/// loop's own thread.
class LoopServices {
 public:
  /// The loop whose thread this is; null elsewhere.
  static LoopServices* Current();

  virtual ~LoopServices() = default;
  /// Calls `timed` once at `deadline_ns` (monotonic) unless removed before.
  virtual void AddDeadline(uint64_t deadline_ns, Timed* timed) = 0;
  virtual void RemoveDeadline(uint64_t deadline_ns, Timed* timed) = 0;
  virtual uint64_t NowNs() const = 0;
  /// The same to a few milliseconds, for a fraction of the cost.
  virtual uint64_t RoughNowNs() const = 0;
  const std::shared_ptr<LoopInbox>& inbox() const { return inbox_; }

 protected:
  /// Makes `loop` the current one of the calling thread; null when its loop ends.
  static void SetCurrent(LoopServices* loop);

  std::shared_ptr<LoopInbox> inbox_;
};

}  // namespace nereid::frontend::grpc
