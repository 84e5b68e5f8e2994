// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/extension/python.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

/// Makes options of the C API from a list of tuples (name, arguments...): ("SetServerId", "x")
/// calls TRITONSERVER_ServerOptionsSetServerId. Returns null with TypeError for arguments of a
/// wrong type.
TRITONSERVER_ServerOptions* MakeOptions(PyObject* settings);

}  // namespace nereid::python
