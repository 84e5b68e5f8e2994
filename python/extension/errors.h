// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/extension/python.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

/// The index of the class for a process that was forked, after those of the C API's codes.
constexpr int kForkedError = 8;
constexpr int kErrorClasses = 9;

/// set_error_classes(classes): sets the exception of each TRITONSERVER_Error_Code, in the order of
/// their values, and that of kForkedError.
PyObject* SetErrorClasses(PyObject* module, PyObject* classes);

/// Raises the exception of a code. Returns null.
PyObject* Raise(int code, const char* message);

/// Returns true for a null error. Otherwise deletes it, raises its exception and returns false.
bool Check(TRITONSERVER_Error* error);

}  // namespace nereid::python
