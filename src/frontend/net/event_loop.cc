// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/event_loop.h"

#include <time.h>

#include <exception>
#include <utility>

#include "base/byte_budget.h"
#include "frontend/net/failure_log.h"

namespace nereid::frontend::net {
namespace {

/// The clock is read after this number of timers or tasks.
constexpr size_t kFew = 16;

thread_local EventLoop* current_loop = nullptr;

/// A front end ends the connection that a failure concerns. An exception that it does not catch
/// must not end the loop of all other connections.
template <typename Step>
void Protect(const Step& step) noexcept {
  try {
    step();
  } catch (const std::exception& failure) {
    static base::LogThrottle throttle;
    LogFailure(throttle, base::LogLevel::kError,
               {"a step of an event loop failed: ", failure.what()});
  }
}

}  // namespace

EventLoop::EventLoop(std::shared_ptr<Inbox> inbox, const base::Clock& clock)
    : inbox_(std::move(inbox)), clock_(clock) {}

EventLoop::~EventLoop() { DropTasks(); }

void EventLoop::DropTasks() noexcept {
  while (!tasks_.empty()) tasks_.PopFront().DropNow();
  inbox_->Close();
}

EventLoop* EventLoop::Current() { return current_loop; }

uint64_t EventLoop::RoughNowNs() const {
  if (&clock_ != &base::SteadyClock()) return clock_.NowNs();
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void EventLoop::Run() {
  current_loop = this;
  base::ForbidBlocking();
  while (!stopped_) Turn(/*may_wait=*/true);
  DropTasks();
  current_loop = nullptr;
}

void EventLoop::Turn(bool may_wait) {
  acted_ = false;
  const bool waits = may_wait && tasks_.empty() && inbox_->Arm();
  const bool time_has_passed = Wait(waits, timers_.empty() ? kNever : timers_.NextNs());
  if (time_has_passed || !may_wait) FireTimers();
  RunTasks();
  if (acted_ && turn_listener_ != nullptr) turn_listener_->OnTurnEnd();
}

void EventLoop::FireTimers() {
  if (timers_.empty()) return;
  const uint64_t begin_ns = NowNs();
  size_t fired = 0;
  bool due = true;
  while (due) {
    Protect([&] { due = timers_.FireFirst(begin_ns); });
    acted_ |= due;
    if (++fired % kFew == 0 && NowNs() - begin_ns >= kFairNs) break;
  }
}

void EventLoop::RunTasks() {
  if (tasks_.empty()) inbox_->Take(&tasks_);
  if (tasks_.empty()) return;
  acted_ = true;
  uint64_t begin_ns = 0;
  for (size_t ran = 1; !tasks_.empty(); ++ran) {
    tasks_.PopFront().RunNow();
    if (ran % kFew != 0) continue;
    const uint64_t now_ns = NowNs();
    if (begin_ns == 0) begin_ns = now_ns;
    if (now_ns - begin_ns >= kFairNs) break;
  }
}

}  // namespace nereid::frontend::net
