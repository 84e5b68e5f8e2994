// SPDX-License-Identifier: Apache-2.0
#include "app/stop_signals.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_output.h"
#include "base/threads.h"

namespace nereid::app {
namespace {

/// The time between the end of the exit timeout and the end of the process. An orderly stop ends at
/// the timeout and logs its own, more precise error in this time.
constexpr uint64_t kGraceNs = 1'000'000'000;

sigset_t Signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

/// Waits for the next signal and returns its number. Returns 0 at the time `until_ns`; 0 means no
/// limit.
int NextSignal(uint64_t until_ns) {
  const sigset_t set = Signals();
  while (true) {
    const uint64_t now_ns = base::SteadyClock().NowNs();
    if (until_ns != 0 && now_ns >= until_ns) return 0;
    const uint64_t left_ns = until_ns - now_ns;
    const timespec left{static_cast<time_t>(left_ns / 1'000'000'000),
                        static_cast<long>(left_ns % 1'000'000'000)};
    const int number =
        until_ns == 0 ? sigwaitinfo(&set, nullptr) : sigtimedwait(&set, nullptr, &left);
    if (number > 0) return number;  // otherwise EINTR, or EAGAIN at the timeout
  }
}

}  // namespace

void ExitImmediately(int code) {
  base::FlushLog();
  _exit(code);
}

// The signals are blocked in all threads and received with sigwaitinfo on one thread. A signal
// handler would run on any thread, at any point, and could neither lock a mutex nor write to the
// log.
StopSignals::StopSignals(uint64_t max_stop_ns, Reactions reactions)
    : max_stop_ns_(max_stop_ns), reactions_(std::move(reactions)) {
  const sigset_t set = Signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  auto thread = base::StartThread("signals", [this] { Run(); });
  if (!thread.ok()) {
    // Without this thread no signal could stop the server.
    LOG_ERROR << thread.status().message();
    ExitImmediately(1);
  }
  thread->detach();
}

void StopSignals::Wait() {
  base::MutexLock lock(mutex_);
  while (!stopping()) stop_requested_.Wait(lock);
}

void StopSignals::WaitForSecond(uint64_t until_ns) {
  const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(until_ns)};
  base::MutexLock lock(mutex_);
  while (stop_signals_ < 2 && stop_requested_.WaitUntil(lock, until)) {
  }
}

void StopSignals::Run() {
  while (true) {
    const int number = NextSignal(stopping() ? deadline_ns() + kGraceNs : 0);
    if (number == SIGHUP) {
      reactions_.on_hang_up();
    } else if (number != 0) {
      OnStopSignal(number);
    } else {
      LOG_ERROR << "failed to stop server: Internal - Exit timeout expired. Exiting immediately."
                << reactions_.describe_unfinished();
      ExitImmediately(1);
    }
  }
}

void StopSignals::OnStopSignal(int number) {
  base::StandardOutput().Write("Signal (" + std::to_string(number) + ") received.\n");
  int count = 0;
  {
    const base::MutexLock lock(mutex_);
    count = ++stop_signals_;
    if (count == 1) {
      deadline_ns_.store(base::SteadyClock().NowNs() + max_stop_ns_, std::memory_order_release);
    }
    stop_requested_.NotifyAll();
  }
  switch (count) {
    case 1:
      break;
    case 2:
      LOG_INFO << "waiting for requests in flight and for models to unload; signal once more to "
                  "exit at once";
      return;
    default:
      ExitImmediately(1);
  }
  // Called without the lock, and after Wait() can return: it may log or take other locks.
  reactions_.on_stop();
}

}  // namespace nereid::app
