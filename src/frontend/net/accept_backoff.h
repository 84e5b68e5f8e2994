// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "frontend/net/event_loop.h"

namespace nereid::frontend::net {

/// The pause of a listening socket when the next accept would fail as well.
inline constexpr std::chrono::milliseconds kAcceptPause{100};

/// Returns how long a listening socket pauses after an accept that failed with this errno: 0 if the
/// failure concerns one connection only, kAcceptPause if the next accept would fail as well (the
/// process or the system has no file descriptors or memory left).
std::chrono::milliseconds PauseAfterAccept(int error);

/// Returns the reason why accept(2) failed with this errno, and the limit to raise.
std::string ReasonOfAcceptFailure(int error);

/// Logs that a service cannot accept connections, with the reason: at most once in ten seconds for
/// all sockets of the process together.
void LogAcceptFailure(std::string_view service, std::string_view reason) noexcept;

/// Resumes accepting on one listening socket after a pause. Loop thread only.
class AcceptBackoff final : private Timer {
 public:
  /// `resume` is called at the end of a pause.
  AcceptBackoff(EventLoop& loop, std::function<void()> resume)
      : loop_(loop), resume_(std::move(resume)) {}

  void Pause(std::chrono::milliseconds time) {
    loop_.SetTimer(*this, loop_.NowNs() + static_cast<uint64_t>(time.count()) * 1'000'000);
  }
  /// Forgets a pause: `resume` is not called.
  void Cancel() { loop_.CancelTimer(*this); }

 private:
  void OnDeadline() override { resume_(); }

  EventLoop& loop_;
  const std::function<void()> resume_;
};

}  // namespace nereid::frontend::net
