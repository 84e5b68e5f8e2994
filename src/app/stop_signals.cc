// SPDX-License-Identifier: Apache-2.0
#include "app/stop_signals.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_output.h"
#include "base/threads.h"

namespace nereid::app {
namespace {

/// What an orderly stop may take longer, so that it can say itself that its time is over.
constexpr uint64_t kMomentNs = 1'000'000'000;

sigset_t Signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

/// The next signal, or 0 when `until_ns` (0: never) has come.
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
    if (number > 0) return number;
  }
}

}  // namespace

void EndAtOnce(int code) {
  base::FlushLog();
  _exit(code);
}

StopSignals::StopSignals(uint64_t exit_timeout_ns, Reactions reactions)
    : exit_timeout_ns_(exit_timeout_ns), reactions_(std::move(reactions)) {
  const sigset_t set = Signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  auto thread = base::StartThread("signals", [this] { Run(); });
  if (!thread.ok()) {
    // A server that no signal ends must not begin.
    LOG_ERROR << thread.status().message();
    EndAtOnce(1);
  }
  thread->detach();
}

void StopSignals::Wait() {
  base::MutexLock lock(mutex_);
  while (!stopping()) asked_.Wait(lock);
}

void StopSignals::Run() {
  while (true) {
    const int number = NextSignal(stopping() ? deadline_ns() + kMomentNs : 0);
    if (number == SIGHUP) {
      OnHangUp();
    } else if (number != 0) {
      OnStopSignal(number);
    } else {
      LOG_ERROR << "failed to stop server: Internal - Exit timeout expired. Exiting immediately."
                << reactions_.what_runs();
      EndAtOnce(1);
    }
  }
}

void StopSignals::OnStopSignal(int number) {
  base::StandardOutput().Write("Signal (" + std::to_string(number) + ") received.\n");
  switch (++stop_signals_) {
    case 1: {
      const base::MutexLock lock(mutex_);
      deadline_ns_.store(base::SteadyClock().NowNs() + exit_timeout_ns_, std::memory_order_release);
      asked_.NotifyAll();
      break;
    }
    case 2:
      LOG_INFO << "waiting for requests in flight and for models to unload; signal once more to "
                  "exit at once";
      return;
    default:
      EndAtOnce(1);
  }
  reactions_.on_stop();
}

void StopSignals::OnHangUp() {
  const base::Status status = base::ReopenLogFile();
  if (!status.ok()) {
    LOG_ERROR << "SIGHUP: " << status.message() << "; the log goes on where it was";
  } else if (base::Log::Instance().file().empty()) {
    LOG_INFO << "SIGHUP: nothing to do without --log-file";
  } else {
    LOG_INFO << "SIGHUP: the log file was opened anew";
  }
}

}  // namespace nereid::app
