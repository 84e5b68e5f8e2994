// SPDX-License-Identifier: Apache-2.0
#include "base/threads.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "base/thread_shortage.h"

namespace nereid::base {
namespace {

/// Blocks the signals that end the server while the object lives. A new thread inherits the signal
/// mask, so the mask is set around the creation. If the thread set it itself, a signal could arrive
/// before its first statement.
class EndSignalsBlocked {
 public:
  EndSignalsBlocked() {
    sigset_t block;
    sigemptyset(&block);
    sigaddset(&block, SIGINT);
    sigaddset(&block, SIGTERM);
    sigaddset(&block, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &block, &previous_);
  }
  ~EndSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  EndSignalsBlocked(const EndSignalsBlocked&) = delete;
  EndSignalsBlocked& operator=(const EndSignalsBlocked&) = delete;

 private:
  sigset_t previous_;
};

Status NoThread(const std::string& name, const std::string& reason) {
  return Status::Unavailable("cannot start the thread '" + name + "': " + reason +
                             " (the limits on threads, ulimit -u and the pids of the control "
                             "group, or on memory are reached)");
}

}  // namespace

Result<std::thread> StartThread(const std::string& name, std::function<void()> body,
                                const CpuPlacement& placement) {
  if (ThreadShortage::IsFelt()) return NoThread(name, "none is left");
  try {
    // The thread names itself with one system call. To name another thread, the C library opens and
    // writes a file of /proc.
    const EndSignalsBlocked blocked;
    return std::thread([name = name.substr(0, 15), placement, body = std::move(body)] {
      pthread_setname_np(pthread_self(), name.c_str());
      if (!placement.empty()) (void)PlaceThisThread(placement);
      body();
    });
  } catch (const std::system_error& error) {
    return NoThread(name, error.code().message());
  } catch (const std::bad_alloc&) {
    return NoThread(name, "out of memory");
  }
}

// For Linux, PRIO_PROCESS with the number of a thread means the thread alone.
void GiveWayToOtherThreads() noexcept {
  constexpr int kNicer = 10;
  const auto self = static_cast<id_t>(gettid());
  errno = 0;
  const int niceness = getpriority(PRIO_PROCESS, self);
  if (errno == 0) (void)setpriority(PRIO_PROCESS, self, niceness + kNicer);
}

}  // namespace nereid::base
