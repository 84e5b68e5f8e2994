// SPDX-License-Identifier: Apache-2.0
#include "app/service_manager.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/threads.h"

namespace nereid::app {
namespace {

/// The longest time that a message waits for a manager that does not read.
constexpr timeval kSendTimeout{.tv_sec = 5, .tv_usec = 0};

/// Signs of life in the time that the manager has set.
constexpr uint64_t kSignsOfLife = 3;
constexpr uint64_t kMinPeriodUs = 10'000;

std::optional<uint64_t> NumberFrom(const char* text) {
  if (text == nullptr) return std::nullopt;
  const char* const end = text + std::strlen(text);
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text, end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

/// Returns a socket that is connected to `name`, or -1 with errno.
int ConnectTo(std::string_view name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof(address.sun_path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  name.copy(address.sun_path, name.size());
  // The name of an abstract socket begins with a zero and ends with the address.
  const bool is_abstract = name.front() == '@';
  if (is_abstract) address.sun_path[0] = '\0';
  const size_t length = offsetof(sockaddr_un, sun_path) + name.size() + (is_abstract ? 0 : 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &kSendTimeout, sizeof(kSendTimeout));
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address),
                static_cast<socklen_t>(length)) == 0) {
    return descriptor;
  }
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return -1;
}

}  // namespace

ServiceManager::ServiceManager(const Environment& environment, int64_t pid) {
  const char* const name = environment("NOTIFY_SOCKET");
  if (name == nullptr || *name == '\0') return;
  socket_ = ConnectTo(name);
  if (socket_ < 0) {
    LOG_WARNING << "NOTIFY_SOCKET: the service manager at '" << name
                << "' cannot be reached: " << std::strerror(errno);
    return;
  }
  // The variables of a watchdog are inherited by programs that the service starts.
  const auto meant = NumberFrom(environment("WATCHDOG_PID"));
  if (!meant || *meant == static_cast<uint64_t>(pid)) {
    watchdog_us_ = NumberFrom(environment("WATCHDOG_USEC")).value_or(0);
  }
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) ::close(socket_);
}

void ServiceManager::Send(const std::string& message) {
  if (socket_ < 0) return;
  if (::send(socket_, message.data(), message.size(), MSG_NOSIGNAL) < 0) {
    LOG_WARNING << "the service manager did not take '" << message.substr(0, message.find('\n'))
                << "': " << std::strerror(errno);
  }
}

std::string ServiceManager::ReadyMessage() const { return "READY=1\nSTATUS=" + status_; }

void ServiceManager::SendReady(std::string_view status) {
  const base::MutexLock lock(mutex_);
  if (state_ == State::kStopping) return;
  state_ = State::kReady;
  status_ = status;
  Send(ReadyMessage());
}

void ServiceManager::SendStopping(std::string_view status) {
  const base::MutexLock lock(mutex_);
  state_ = State::kStopping;
  Send("STOPPING=1\nSTATUS=" + std::string(status));
}

void ServiceManager::Reload(uint64_t now_us, const std::function<void()>& reload) {
  {
    const base::MutexLock lock(mutex_);
    if (state_ == State::kReady) Send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now_us));
  }
  reload();
  const base::MutexLock lock(mutex_);
  if (state_ == State::kReady) Send(ReadyMessage());
}

void ServiceManager::SendAlive() {
  const base::MutexLock lock(mutex_);
  Send("WATCHDOG=1");
}

ServiceWatchdog::ServiceWatchdog(ServiceManager& manager, std::function<bool()> healthy)
    : manager_(manager), healthy_(std::move(healthy)) {}

ServiceWatchdog::~ServiceWatchdog() {
  {
    const base::MutexLock lock(mutex_);
    stop_ = true;
  }
  stopped_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

base::Status ServiceWatchdog::Start() {
  if (manager_.watchdog_us() == 0) return {};
  NEREID_ASSIGN_OR_RETURN(thread_, base::StartThread("service-alive", [this] { Run(); }));
  return {};
}

void ServiceWatchdog::Check() {
  const bool healthy = healthy_();
  if (healthy) {
    manager_.SendAlive();
  } else if (was_healthy_) {
    LOG_ERROR << "the server is not live, so the service manager gets no further sign of life and "
                 "restarts it; the watchdog's lines above name the reason";
  }
  was_healthy_ = healthy;
}

void ServiceWatchdog::Run() {
  const std::chrono::microseconds period(
      std::max(manager_.watchdog_us() / kSignsOfLife, kMinPeriodUs));
  base::MutexLock lock(mutex_);
  while (!stop_) {
    lock.Unlock();
    try {
      Check();
    } catch (const std::exception& error) {  // no memory; the next round may have some
      LOG_ERROR << "the service manager gets no sign of life: " << error.what();
    }
    lock.Lock();
    const auto next = std::chrono::steady_clock::now() + period;
    while (!stop_ && stopped_.WaitUntil(lock, next)) {
    }
  }
}

}  // namespace nereid::app
