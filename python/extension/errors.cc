// SPDX-License-Identifier: Apache-2.0
#include "python/extension/errors.h"

namespace nereid::python {
namespace {

PyObject* error_classes[kErrorClasses] = {};  // owned

}  // namespace

PyObject* SetErrorClasses(PyObject*, PyObject* classes) {
  if (!PyTuple_Check(classes) || PyTuple_Size(classes) != kErrorClasses) {
    PyErr_SetString(PyExc_TypeError, "a tuple of an exception for each code is needed");
    return nullptr;
  }
  for (int i = 0; i < kErrorClasses; ++i) {
    Ref old(std::exchange(error_classes[i], Ref::Borrow(PyTuple_GetItem(classes, i)).release()));
  }
  return None();
}

PyObject* Raise(int code, const char* message) {
  PyObject* const found = code >= 0 && code < kErrorClasses ? error_classes[code] : nullptr;
  PyErr_SetString(found != nullptr ? found : PyExc_RuntimeError, message);
  return nullptr;
}

bool Check(TRITONSERVER_Error* error) {
  if (error == nullptr) return true;
  Raise(TRITONSERVER_ErrorCode(error), TRITONSERVER_ErrorMessage(error));
  TRITONSERVER_ErrorDelete(error);
  return false;
}

}  // namespace nereid::python
