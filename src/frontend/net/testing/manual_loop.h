// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "frontend/net/event_loop.h"

namespace nereid::frontend::net::testing {

/// An event loop that never waits. The test sets the clock and the ready descriptors, and calls
/// RunTurn for each turn.
class ManualLoop final : public EventLoop {
 public:
  explicit ManualLoop(const base::Clock& clock) : EventLoop(Inbox::Make().value(), clock) {}

  std::unique_ptr<ByteStream> NewStream(Socket socket) override;
  bool Watch(int descriptor, Watcher& watcher, Interest interest) noexcept override;
  void Change(int descriptor, Watcher& watcher, Interest interest) noexcept override;
  void Unwatch(int descriptor, Watcher& watcher) noexcept override;

  Interest InterestIn(int descriptor) const { return watched_.at(descriptor).interest; }
  /// Makes the loop call the descriptor's watcher in the next turn, and in each later turn until it
  /// is unwatched or its state is set again.
  void SetReady(int descriptor, Watcher::Ready ready) { watched_.at(descriptor).ready = ready; }
  /// Returns how often the interest in a descriptor was set or changed.
  int changes() const { return changes_; }
  /// Makes Watch() fail.
  void RefuseToWatch() { refuses_ = true; }

 private:
  struct Watched {
    Watcher* watcher;
    Interest interest;
    Watcher::Ready ready;
  };
  bool Move(int descriptor, Watcher&, Interest) noexcept override {
    return watched_.contains(descriptor);
  }
  bool Wait(bool may_wait, uint64_t timer_ns) override;

  std::map<int, Watched> watched_;
  int changes_ = 0;
  bool refuses_ = false;
};

}  // namespace nereid::frontend::net::testing
