// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/extension/python.h"

namespace nereid::python {

/// Adds the types BoundQueue and BoundBatch, with which Python functions serve models
/// (backends/bound).
bool AddBoundTypes(PyObject* module);

}  // namespace nereid::python
