// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/listener.h"

#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <string>

#include "frontend/net/failure_log.h"

namespace nereid::frontend::net {
namespace {

/// Used as an errno when the limit of connections is reached.
constexpr int kAtLimit = 0;
/// The maximum number of connections that are accepted in one turn.
constexpr int kAcceptsPerTurn = 16;

}  // namespace

base::Result<Endpoint> Listener::Listen(const Endpoint& endpoint, const ListenOptions& options) {
  NEREID_ASSIGN_OR_RETURN(ListeningSocket opened, ListenOn(endpoint, options));
  socket_ = std::move(opened.socket);
  file_ = std::move(opened.file);
  return opened.endpoint;
}

void Listener::Accept() {
  if (!socket_.is_open() || watched_) return;
  watched_ = loop_.Watch(socket_.descriptor(), *this, {.reading = true});
  if (!watched_) Pause(errno, kAcceptPause);
}

void Listener::OnReady(Ready) noexcept {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    if (!AcceptOne() || !socket_.is_open()) return;
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
  arrival.socket = Socket(accept4(socket_.descriptor(), by_address ? address : nullptr,
                                  by_address ? &size : nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!arrival.socket.is_open()) return OnAcceptFailed(errno);
  if (by_address && !limit_->TakeFor(*address, arrival.place)) {
    ReportFullAddress(*address, size);
    return true;
  }
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
  if (watched_) loop_.Change(socket_.descriptor(), *this, {});
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
  loop_.Change(socket_.descriptor(), *this, {.reading = true});
}

void Listener::Close() {
  backoff_.Cancel();
  if (std::exchange(watched_, false)) loop_.Unwatch(socket_.descriptor(), *this);
  file_.Remove();
  socket_.Close();
}

}  // namespace nereid::frontend::net
