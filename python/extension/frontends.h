// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/extension/python.h"

namespace nereid::python {

/// Adds the type Frontends: Frontends(server, flags), port(kind) -> int, stop(seconds).
bool AddFrontendsType(PyObject* module);

}  // namespace nereid::python
