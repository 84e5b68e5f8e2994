// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/intrusive/set.hpp>
#include <boost/intrusive/set_hook.hpp>
#include <cstdint>

namespace nereid::frontend::net {

namespace internal {
using TimerHook =
    boost::intrusive::set_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
}  // namespace internal

/// An object that waits for a time of its event loop. A timer is a base or a member of the waiting
/// object, so setting it takes no memory and cannot fail. Its destructor cancels it. Loop thread
/// only.
class Timer : public internal::TimerHook {
 public:
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  bool is_set() const { return is_linked(); }
  /// Returns the time of the timer in nanoseconds of the loop's clock. Valid only while the timer
  /// is set.
  uint64_t deadline_ns() const { return deadline_ns_; }

 protected:
  Timer() = default;
  ~Timer() = default;

 private:
  friend class TimerList;
  /// Called at the time of the timer. The timer is not set any more; it may be set again and
  /// destroyed.
  virtual void OnDeadline() = 0;

  uint64_t deadline_ns_ = 0;
};

/// A timer that calls a method of the object whose member it is.
template <typename Object, void (Object::*kMethod)()>
class MemberTimer final : public Timer {
 public:
  explicit MemberTimer(Object& object) : object_(object) {}

 private:
  void OnDeadline() override { (object_.*kMethod)(); }

  Object& object_;
};

/// The timers that are set, in the order of their times. Not thread-safe.
class TimerList {
 public:
  bool empty() const { return timers_.empty(); }
  /// Returns the time of the first timer. The list must not be empty.
  uint64_t NextNs() const { return timers_.begin()->deadline_ns_; }
  /// Sets or resets a timer.
  void Set(Timer& timer, uint64_t deadline_ns) noexcept {
    timer.unlink();
    timer.deadline_ns_ = deadline_ns;
    timers_.insert(timer);  // behind those of the same time
  }
  void Cancel(Timer& timer) noexcept { timer.unlink(); }
  /// Calls the first timer if it is due at `now_ns`. Returns whether it was.
  bool FireFirst(uint64_t now_ns) {
    if (timers_.empty() || NextNs() > now_ns) return false;
    Timer& timer = *timers_.begin();
    timers_.erase(timers_.begin());
    timer.OnDeadline();
    return true;
  }

 private:
  struct Sooner {
    bool operator()(const Timer& a, const Timer& b) const {
      return a.deadline_ns_ < b.deadline_ns_;
    }
  };
  // Timers unlink themselves, so the list does not know their number.
  using Timers = boost::intrusive::multiset<Timer, boost::intrusive::compare<Sooner>,
                                            boost::intrusive::constant_time_size<false>,
                                            boost::intrusive::base_hook<internal::TimerHook>>;
  Timers timers_;
};

}  // namespace nereid::frontend::net
