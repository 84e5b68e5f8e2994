// SPDX-License-Identifier: Apache-2.0
#include "python/extension/parameters.h"

#include "python/extension/errors.h"

namespace nereid::python {

Parameters::~Parameters() {
  for (const TRITONSERVER_Parameter* const parameter : parameters_) {
    TRITONSERVER_ParameterDelete(const_cast<TRITONSERVER_Parameter*>(parameter));
  }
}

bool Parameters::Read(PyObject* dict) {
  if (dict == Py_None) return true;
  if (!PyDict_Check(dict)) {
    PyErr_SetString(PyExc_TypeError, "parameters must be a dict");
    return false;
  }
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(dict, &position, &key, &value) != 0) {
    if (!Add(key, value)) return false;
  }
  return true;
}

bool Parameters::Add(PyObject* key, PyObject* value) {
  Text name;
  if (!name.Read(key, "the name of a parameter")) return false;
  TRITONSERVER_Parameter* parameter = nullptr;
  if (PyBool_Check(value)) {
    const bool flag = value == Py_True;
    parameter = TRITONSERVER_ParameterNew(name.c_str(), TRITONSERVER_PARAMETER_BOOL, &flag);
  } else if (PyLong_Check(value)) {
    const int64_t number = PyLong_AsLongLong(value);
    if (number == -1 && PyErr_Occurred() != nullptr) return false;
    parameter = TRITONSERVER_ParameterNew(name.c_str(), TRITONSERVER_PARAMETER_INT, &number);
  } else if (PyFloat_Check(value)) {
    const double number = PyFloat_AsDouble(value);
    parameter = TRITONSERVER_ParameterNew(name.c_str(), TRITONSERVER_PARAMETER_DOUBLE, &number);
  } else if (PyBytes_Check(value)) {
    char* bytes = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(value, &bytes, &size) < 0) return false;
    kept_.push_back(Ref::Borrow(value));
    parameter = TRITONSERVER_ParameterBytesNew(name.c_str(), bytes, static_cast<uint64_t>(size));
  } else if (PyUnicode_Check(value)) {
    Text text;
    if (!text.Read(value, "the value of a parameter")) return false;
    parameter =
        TRITONSERVER_ParameterNew(name.c_str(), TRITONSERVER_PARAMETER_STRING, text.c_str());
  } else {
    PyErr_Format(PyExc_TypeError,
                 "the value of parameter %s must be a str, bool, int, float or bytes",
                 name.c_str());
    return false;
  }
  if (parameter == nullptr) {
    PyErr_NoMemory();
    return false;
  }
  parameters_.push_back(parameter);
  return true;
}

bool Words::Read(PyObject* sequence) {
  const Ref iterator(PyObject_GetIter(sequence));
  if (!iterator) return false;
  while (const Ref item{PyIter_Next(iterator.get())}) {
    Text word;
    if (!word.Read(item.get(), "a flag")) return false;
    words_.emplace_back(word.c_str());
  }
  if (PyErr_Occurred() != nullptr) return false;
  for (const std::string& word : words_) pointers_.push_back(word.c_str());
  return true;
}

}  // namespace nereid::python
