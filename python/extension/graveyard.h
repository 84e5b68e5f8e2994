// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "python/extension/python.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

/// Keeps references that a thread without the GIL has ended, until a Python thread drops them. May
/// be called on any thread.
void Bury(std::vector<PyObject*> references) noexcept;

/// Keeps a server whose last user was a callback of the engine, until a Python thread deletes it.
void BuryServer(TRITONSERVER_Server* server) noexcept;

/// Asks Python's main thread to drop what is buried, if something is. May be called on any thread;
/// called by threads of the engine after they have ended a call.
void RequestBurial();

/// Drops what is buried. Called with the GIL held at the end of calls, so that the memory of inputs
/// is free when the function that sent them returns. Releases the GIL to delete servers.
void DropBuried();

/// Calls DropBuried() at the end of its scope. Declared before the calls that it is for.
class DropBuriedLater {
 public:
  DropBuriedLater() = default;
  ~DropBuriedLater() { DropBuried(); }
  DropBuriedLater(const DropBuriedLater&) = delete;
  DropBuriedLater& operator=(const DropBuriedLater&) = delete;
};

}  // namespace nereid::python
