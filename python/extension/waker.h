// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "python/extension/python.h"

namespace nereid::python {

class Call;

/// Tells an asyncio event loop that calls have responses: a descriptor (eventfd) that the loop
/// watches becomes readable. Threads of the engine call Tell(); the loop's thread calls Take().
class Waker {
 public:
  Waker();
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  /// Returns the descriptor, or -1 if the system gave none.
  int descriptor() const { return descriptor_; }
  /// Lists the call, unless it is listed already.
  void Tell(std::shared_ptr<Call> call);
  /// Returns the calls that were listed since the last Take(), and makes the descriptor unreadable.
  std::vector<std::shared_ptr<Call>> Take();
  /// Ends the object: it lists no more calls, which hold a reference to it.
  void Close();

 private:
  const int descriptor_;
  base::Mutex mutex_;
  std::vector<std::shared_ptr<Call>> calls_ NEREID_GUARDED_BY(mutex_);
  bool closed_ NEREID_GUARDED_BY(mutex_) = false;
};

/// Adds the type Waker: Waker(), fileno() -> int, take() -> list of ids of calls.
bool AddWakerType(PyObject* module);
/// Returns the waker of a Python object; null with TypeError for another type.
std::shared_ptr<Waker> WakerOf(PyObject* object);

}  // namespace nereid::python
