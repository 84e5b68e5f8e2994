// SPDX-License-Identifier: Apache-2.0
#include "base/threads.h"

#include <pthread.h>
#include <signal.h>

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
    if (!placement.empty()) {
      body = [placement, body = std::move(body)] {
        (void)PlaceThisThread(placement);
        body();
      };
    }
    const EndSignalsBlocked blocked;
    std::thread thread(std::move(body));
    pthread_setname_np(thread.native_handle(), name.substr(0, 15).c_str());
    return thread;
  } catch (const std::system_error& error) {
    return NoThread(name, error.code().message());
  } catch (const std::bad_alloc&) {
    return NoThread(name, "out of memory");
  }
}

}  // namespace nereid::base
