// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "frontend/net/byte_stream.h"
#include "frontend/net/inbox.h"
#include "frontend/net/socket.h"
#include "frontend/net/timer.h"

namespace nereid::frontend::net {

/// The events of a descriptor that an event loop reports. The loss of the peer is always reported.
struct Interest {
  bool reading = false;
  bool writing = false;
  bool operator==(const Interest&) const = default;
};

/// An object that waits for events of a descriptor.
class Watcher {
 public:
  /// Whose events are reported first in a turn.
  enum class Rank {
    kServed,    // clients that have had replies: all of their events
    kNewcomer,  // listening sockets and other clients: afterwards, for a limited time
  };

  struct Ready {
    bool readable = false;
    bool writable = false;
    bool lost = false;  // an error, or both directions are closed
  };
  /// Reports events. Level-triggered: called again in the next turn as long as nothing changes. The
  /// watcher may be unwatched and destroyed during the call.
  virtual void OnReady(Ready ready) noexcept = 0;

 protected:
  explicit Watcher(Rank rank = Rank::kServed) : rank_(rank) {}
  ~Watcher() = default;

 private:
  friend class EventLoop;
  Rank rank_;
};

/// One thread of a front end: it waits for sockets, times and tasks, and calls the objects that
/// wait for them.
///
/// This class is the interface of a loop and contains the parts that do not depend on the system's
/// way to report events: time, tasks, and the order of the turn. A subclass waits (Wait) and
/// watches descriptors (Watch, NewStream); EpollLoop uses epoll(7). A loop over io_uring would be
/// another subclass: its Watch would poll, and its streams would return the buffers that a
/// multishot receive has filled. The front ends use only this class and ByteStream.
///
/// Threads: Run() makes the calling thread the loop's thread. All functions must be called on that
/// thread, or on any thread before Run(). Exceptions are inbox(), Post(), NowNs() and RoughNowNs(),
/// which may be called on any thread. inbox() also outlives the loop.
///
/// Ownership: the loop does not own tasks, timers or watchers. Timers and watchers must be
/// cancelled or destroyed before the loop. A task's owner is kept alive until the task has run;
/// when Run() returns, the remaining tasks are dropped, and later ones are dropped at once.
///
/// One turn consists of the events of descriptors, the timers that are due, the tasks, and
/// OnTurnEnd(). The events of newcomers come after those of clients that have been served, and may
/// use kNewcomersNs: clients that connect and go away by the thousand delay the others little.
/// Timers and tasks may use kFairNs of a turn each; the rest waits for the next turn, so that many
/// of them cannot delay the sockets. Tasks that are posted during a turn run in the next one.
class EventLoop {
 public:
  /// How long all timers, all tasks or the backlog of one call should use a turn before the others
  /// are served. It is long compared with what another turn costs, a few microseconds. The bounds
  /// of a connection are its front end's.
  static constexpr uint64_t kFairNs = 250'000;

  /// How long newcomers should use a turn: the time of several accepts.
  static constexpr uint64_t kNewcomersNs = 100'000;

  /// Called at the end of each turn in which timers or tasks ran.
  class TurnListener {
   public:
    virtual void OnTurnEnd() noexcept = 0;

   protected:
    ~TurnListener() = default;
  };

  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  virtual ~EventLoop();

  /// Returns the loop of the calling thread, or null.
  static EventLoop* Current();

  /// Serves until Stop(). Nothing on this thread may block (base::ForbidBlocking). A model may run
  /// on it only if its executions are so short that they delay nothing.
  void Run();
  /// Serves for one turn without waiting. For tests.
  void RunTurn() { Turn(/*may_wait=*/false); }
  /// Makes Run() return at the end of the turn.
  void Stop() { stopped_ = true; }

  const std::shared_ptr<Inbox>& inbox() const { return inbox_; }
  void Post(Task& task, std::shared_ptr<void> owner) noexcept {
    inbox_->Post(task, std::move(owner));
  }

  /// Sets or resets a timer to a time of NowNs().
  void SetTimer(Timer& timer, uint64_t deadline_ns) noexcept { timers_.Set(timer, deadline_ns); }
  void CancelTimer(Timer& timer) noexcept { timers_.Cancel(timer); }

  /// Returns monotonic nanoseconds.
  uint64_t NowNs() const { return clock_.NowNs(); }
  /// Returns a time that is up to a few milliseconds old, for a fraction of the cost.
  uint64_t RoughNowNs() const;

  /// Sets the only listener; null for none.
  void SetTurnListener(TurnListener* listener) { turn_listener_ = listener; }

  /// Returns a stream of bytes over a connected socket, TCP or Unix. May throw std::bad_alloc.
  virtual std::unique_ptr<ByteStream> NewStream(Socket socket) = 0;

  /// Begins to watch a descriptor. Returns false, with errno, if the system refuses.
  virtual bool Watch(int descriptor, Watcher& watcher, Interest interest) noexcept = 0;
  /// Changes the interest in a watched descriptor.
  virtual void Change(int descriptor, Watcher& watcher, Interest interest) noexcept = 0;
  /// Lets a watched newcomer be one of the served ones from now on. May be called while the watcher
  /// is being called. If the system lacks resources, it stays a newcomer.
  void Promote(int descriptor, Watcher& watcher, Interest interest) noexcept {
    if (watcher.rank_ == Watcher::Rank::kNewcomer && Move(descriptor, watcher, interest)) {
      watcher.rank_ = Watcher::Rank::kServed;
    }
  }
  /// Ends the watch; must be called before the descriptor is closed. The watcher is not called any
  /// more.
  virtual void Unwatch(int descriptor, Watcher& watcher) noexcept = 0;

 protected:
  static constexpr uint64_t kNever = UINT64_MAX;

  EventLoop(std::shared_ptr<Inbox> inbox, const base::Clock& clock);

  static Watcher::Rank RankOf(const Watcher& watcher) { return watcher.rank_; }

 private:
  /// Moves a newcomer to the served ones. Returns false if nothing was changed.
  virtual bool Move(int descriptor, Watcher& watcher, Interest interest) noexcept = 0;
  /// If `may_wait`, waits for events, for a task after Inbox::Arm(), and until `timer_ns` (kNever:
  /// there is no timer). Then disarms the inbox, so that later posts cost no system call, and calls
  /// the watchers. Returns whether the time `timer_ns` may have come; a loop that learns this
  /// without reading the clock saves that in each turn.
  virtual bool Wait(bool may_wait, uint64_t timer_ns) = 0;

  void Turn(bool may_wait);
  void FireTimers();
  void RunTasks();
  void DropTasks() noexcept;

  const std::shared_ptr<Inbox> inbox_;
  const base::Clock& clock_;
  TimerList timers_;
  TaskList tasks_;  // taken from the inbox
  TurnListener* turn_listener_ = nullptr;
  bool acted_ = false;  // timers or tasks ran in this turn
  bool stopped_ = false;
};

}  // namespace nereid::frontend::net
