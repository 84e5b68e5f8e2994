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

/// What an event loop is to tell about a descriptor. A peer that has gone is always told.
struct Interest {
  bool reading = false;
  bool writing = false;
  bool operator==(const Interest&) const = default;
};

/// Something that waits for a descriptor.
class Watcher {
 public:
  struct Ready {
    bool readable = false;
    bool writable = false;
    bool lost = false;  // an error, or both directions are closed
  };
  /// Level-triggered: comes again in the next turn while nothing changes. The watcher may be
  /// unwatched and destroyed meanwhile.
  virtual void OnReady(Ready ready) noexcept = 0;

 protected:
  ~Watcher() = default;
};

/// One thread of a front end: it waits for sockets, times and tasks, and calls those that wait for
/// them.
///
/// This class is the interface of a loop and all of it that does not depend on how the system tells
/// of events: time, tasks, and whose turn it is. A subclass waits (Wait) and watches descriptors
/// (Watch, NewStream); EpollLoop does so by epoll(7). A loop over io_uring is another subclass:
/// its Watch polls, its streams give out the buffers that a multishot receive has filled. The front
/// ends see only this class and ByteStream.
///
/// Threads: Run() makes the calling thread the loop's. All functions are for that thread, or for
/// any before Run(), except inbox(), Post(), NowNs() and RoughNowNs(), which all threads may call;
/// inbox() also keeps what others may need when the loop has gone.
///
/// Ownership: the loop owns neither tasks nor timers nor watchers. Timers and watchers must be
/// cancelled or destroyed before the loop is. A task's owner is kept until the task has run; tasks
/// that the loop does not get to are dropped when Run() returns, and later ones at once.
///
/// One turn: events of descriptors, timers that are due, tasks, and then OnTurnEnd(). Timers and
/// tasks may use 2 ms of a turn each; the rest waits for the next turn, so that many of them cannot
/// keep the loop from the sockets. Tasks that are posted during a turn run in the next one.
class EventLoop {
 public:
  /// Gets told at the end of each turn in which timers or tasks ran.
  class TurnListener {
   public:
    virtual void OnTurnEnd() noexcept = 0;

   protected:
    ~TurnListener() = default;
  };

  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  virtual ~EventLoop();

  /// Returns the loop whose thread this is; null elsewhere.
  static EventLoop* Current();

  /// Serves until Stop(). Nothing on this thread may block (base::ForbidBlocking); a model may run
  /// on it that is so short that it holds nobody up.
  void Run();
  /// Serves for one turn, without waiting. For tests.
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

  /// Monotonic nanoseconds.
  uint64_t NowNs() const { return clock_.NowNs(); }
  /// The same, up to a few milliseconds old, for a fraction of the cost.
  uint64_t RoughNowNs() const;

  /// There is one listener at most; null for none.
  void SetTurnListener(TurnListener* listener) { turn_listener_ = listener; }

  /// Returns a stream of bytes over a connected socket, TCP or Unix. May throw std::bad_alloc.
  virtual std::unique_ptr<ByteStream> NewStream(Socket socket) = 0;

  /// Begins to watch a descriptor. Returns false, with errno, if the system refuses.
  virtual bool Watch(int descriptor, Watcher& watcher, Interest interest) noexcept = 0;
  /// Changes the interest in a descriptor that is watched.
  virtual void Change(int descriptor, Watcher& watcher, Interest interest) noexcept = 0;
  /// Ends the watch, before the descriptor is closed. The watcher is not called any more.
  virtual void Unwatch(int descriptor, Watcher& watcher) noexcept = 0;

 protected:
  static constexpr uint64_t kNever = UINT64_MAX;

  EventLoop(std::shared_ptr<Inbox> inbox, const base::Clock& clock);

 private:
  /// If `may_wait`, waits for events, for a task after Inbox::Arm(), and until `timer_ns` (kNever:
  /// there is no timer). Then disarms the inbox, so that tasks that are posted from here on cost no
  /// system call, and calls the watchers. Returns whether `timer_ns` may have come: where it tells
  /// that without a look at the clock, a turn costs none.
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
