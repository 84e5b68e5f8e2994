// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"
#include "base/status.h"

namespace nereid::app {

/// The program that has started this process as a service and waits for its state: systemd, or
/// another manager with the protocol of sd_notify(3). A message is one datagram to the Unix socket
/// that the environment variable NOTIFY_SOCKET names, with lines NAME=VALUE. Without that variable
/// nothing is sent. A message that cannot be sent has a warning in the log and no other effect.
/// Thread-safe.
class ServiceManager {
 public:
  /// Returns the value of an environment variable, or null.
  using Environment = std::function<const char*(const char* name)>;

  /// Reads NOTIFY_SOCKET, a path or "@" and the name of an abstract socket, and WATCHDOG_USEC and
  /// WATCHDOG_PID. `pid` is the number of this process.
  ServiceManager(const Environment& environment, int64_t pid);
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  /// Returns in which time the manager wants to hear SendAlive(), in microseconds; otherwise it
  /// ends the process. 0: it does not ask for that.
  uint64_t watchdog_us() const { return watchdog_us_; }

  /// Says that the service is complete. `status` is one line for people.
  void SendReady(std::string_view status);
  /// Says that the service stops. No further SendReady() has an effect.
  void SendStopping(std::string_view status);
  /// Carries out `reload` and says before and after it that the service reloads and is complete
  /// again. Before SendReady() and after SendStopping() only the work is done. `now_us` is the
  /// monotonic time.
  void Reload(uint64_t now_us, const std::function<void()>& reload);
  /// Says that the service is alive.
  void SendAlive();

 private:
  enum class State { kStarting, kReady, kStopping };

  void Send(const std::string& message);
  std::string ReadyMessage() const NEREID_REQUIRES(mutex_);

  int socket_ = -1;  // connected; -1: there is no manager
  uint64_t watchdog_us_ = 0;
  base::Mutex
      mutex_;  // held while a message is sent, so that messages have the order of the states
  State state_ NEREID_GUARDED_BY(mutex_) = State::kStarting;
  std::string status_ NEREID_GUARDED_BY(mutex_);
};

/// Tells the service manager that the service is alive, as long as it is healthy: a service that is
/// not is restarted by the manager.
class ServiceWatchdog {
 public:
  /// `healthy` must not block. `manager` must outlive the object.
  ServiceWatchdog(ServiceManager& manager, std::function<bool()> healthy);
  ~ServiceWatchdog();
  ServiceWatchdog(const ServiceWatchdog&) = delete;
  ServiceWatchdog& operator=(const ServiceWatchdog&) = delete;

  /// Starts the thread, if the manager asks for signs of life. Returns UNAVAILABLE if the system
  /// provides none.
  base::Status Start();
  /// Asks for the health once and tells the manager. For tests instead of Start().
  void Check();

 private:
  void Run();

  ServiceManager& manager_;
  const std::function<bool()> healthy_;
  bool was_healthy_ = true;  // used by Check() only
  base::Mutex mutex_;
  base::ConditionVariable stopped_;
  bool stop_ NEREID_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace nereid::app
