// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/extension/call.h"
#include "python/extension/python.h"

namespace nereid::python {

/// Returns a response as the tuple that _core.pyi calls ResponseTuple. The address of an output is
/// valid as long as the tuple's owner.
PyObject* ResponseTuple(const Answer& answer);

}  // namespace nereid::python
