// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/mutex.h"

namespace nereid::base {

/// Holds a mutex that the caller has taken with Mutex::TryLock(), and releases it at the end of the
/// scope, also when an exception leaves the scope.
class NEREID_SCOPED_CAPABILITY AdoptedLock {
 public:
  explicit AdoptedLock(Mutex& mutex) NEREID_REQUIRES(mutex) : mutex_(mutex) {}
  AdoptedLock(const AdoptedLock&) = delete;
  AdoptedLock& operator=(const AdoptedLock&) = delete;
  ~AdoptedLock() NEREID_RELEASE() { mutex_.Unlock(); }

 private:
  Mutex& mutex_;
};

}  // namespace nereid::base
