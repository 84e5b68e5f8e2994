// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/listener.h"

#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <string>

#include "frontend/net/failure_log.h"
#include "frontend/net/pacing.h"

namespace nereid::frontend::net {
namespace {

/// Used as an errno when the limit of connections is reached.
constexpr int kAtLimit = 0;
/// The maximum number of connections that are accepted in one turn: some 0.1 ms.
constexpr int kAcceptsPerTurn = 4;
/// The maximum number of connections that are accepted before a socket is closed: some 4 ms.
constexpr int kAcceptsAtEnd = 160;

}  // namespace

base::Result<Endpoint> Listener::Listen(const Endpoint& endpoint, const ListenOptions& options) {
  NEREID_ASSIGN_OR_RETURN(listening_, ListenOn(endpoint, options));
  return listening_.endpoint;
}

void Listener::Accept() {
  if (!listening_.socket.is_open() || watched_) return;
  watched_ = loop_.Watch(listening_.socket.descriptor(), *this, {.reading = true});
  if (!watched_) Pause(errno, kAcceptPause);
}

void Listener::OnReady(Ready) noexcept { AcceptAtMost(kAcceptsPerTurn); }

void Listener::AcceptWaiting() { AcceptAtMost(kAcceptsAtEnd); }

void Listener::AcceptAtMost(int count) {
  for (int i = 0; i < count && listening_.socket.is_open(); ++i) {
    if (!AcceptOne()) return;
  }
}

/// Accepts one connection. Returns whether to try the next one.
bool Listener::AcceptOne() {
  Arrival arrival;
  if (limit_ != nullptr) {
    arrival.place = limit_->Take();
    if (!arrival.place) {
      Pause(kAtLimit, kAcceptPause);
      return false;
    }
  }
  sockaddr_storage storage;
  auto* const address = reinterpret_cast<sockaddr*>(&storage);
  socklen_t size = sizeof(storage);
  const bool by_address = limit_ != nullptr && limit_->max_per_address() != 0;
  const std::string& paced = listening_.congestion_control;
  const bool wants_address = by_address || !paced.empty();
  arrival.socket = Socket(accept4(listening_.socket.descriptor(), wants_address ? address : nullptr,
                                  wants_address ? &size : nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!arrival.socket.is_open()) return OnAcceptFailed(errno);
  if (by_address && !limit_->TakeFor(*address, arrival.place)) {
    ReportFullAddress(*address, size);
    return true;
  }
  if (!paced.empty() && !IsLoopback(*address)) RestorePacing(arrival.socket, paced);
  on_connection_(std::move(arrival));
  return true;
}

/// Returns whether to try the next connection.
bool Listener::OnAcceptFailed(int error) {
  if (error == EAGAIN || error == EWOULDBLOCK) return false;
  const std::chrono::milliseconds pause = PauseAfterAccept(error);
  if (pause.count() == 0) return true;
  Pause(error, pause);
  return false;
}

void Listener::ReportFullAddress(const sockaddr& address, socklen_t size) const noexcept {
  static base::LogThrottle throttle;
  try {
    LogFailure(throttle, base::LogLevel::kWarning,
               {service_, ": ", SocketAddressText(address, size),
                " was disconnected: ", std::to_string(limit_->max_per_address()),
                " connections from its address are open, which is the limit "
                "(--max-connections-per-address)"});
  } catch (const std::exception&) {
    // There is no memory for the message.
  }
}

void Listener::Pause(int error, std::chrono::milliseconds time) noexcept {
  if (watched_) loop_.Change(listening_.socket.descriptor(), *this, {});
  backoff_.Pause(time);
  try {
    LogAcceptFailure(service_, ReasonOf(error));
  } catch (const std::exception&) {
    // There is no memory for the message.
  }
}

std::string Listener::ReasonOf(int error) const {
  if (error != kAtLimit) return ReasonOfAcceptFailure(error);
  return std::to_string(limit_->max()) + " are open, which is the limit; raise the number of " +
         "file descriptors that the process may have (ulimit -n)";
}

void Listener::Resume() {
  if (!watched_) return Accept();
  loop_.Change(listening_.socket.descriptor(), *this, {.reading = true});
}

void Listener::Close() {
  backoff_.Cancel();
  if (std::exchange(watched_, false)) loop_.Unwatch(listening_.socket.descriptor(), *this);
  listening_.file.Remove();
  listening_.socket.Close();
}

}  // namespace nereid::frontend::net
