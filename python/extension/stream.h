// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "python/extension/call.h"
#include "python/extension/python.h"

namespace nereid::python {

/// Adds the type Stream, the responses of one request. It has no constructor.
bool AddStreamType(PyObject* module);
/// Returns a Stream, or null.
PyObject* MakeStream(std::shared_ptr<Call> call);

/// Waits without the GIL until the call is answered and released, or a signal handler of Python
/// raises. Returns false in that case, after asking the engine to cancel the request.
bool WaitForEnd(Call* call);

}  // namespace nereid::python
