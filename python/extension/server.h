// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "python/extension/engine.h"
#include "python/extension/python.h"

namespace nereid::python {

/// Adds the type Server.
bool AddServerType(PyObject* module);
/// Returns the engine of a Server that runs and that this process started; null with an error.
std::shared_ptr<Engine> EngineOf(PyObject* server);

}  // namespace nereid::python
