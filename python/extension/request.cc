// SPDX-License-Identifier: Apache-2.0
#include "python/extension/request.h"

#include "python/extension/errors.h"
#include "python/extension/tensors.h"

namespace nereid::python {
namespace {

/// Reads an unsigned integer; raises OverflowError or TypeError.
bool ReadNumber(PyObject* object, uint64_t* number) {
  *number = PyLong_AsUnsignedLongLong(object);
  return *number != static_cast<uint64_t>(-1) || PyErr_Occurred() == nullptr;
}

bool AddInput(Call* call, PyObject* name_object, PyObject* value) {
  Text name;
  TensorView view;
  Ref owner;
  if (!name.Read(name_object, "the name of an input")) return false;
  if (!ReadTensor(value, &view, &owner)) return false;
  TRITONSERVER_InferenceRequest* const request = call->request();
  if (!Check(TRITONSERVER_InferenceRequestAddInput(request, name.c_str(), view.type,
                                                   view.shape.data(), view.shape.size())) ||
      !Check(TRITONSERVER_InferenceRequestAppendInputData(request, name.c_str(), view.data,
                                                          view.byte_size, view.memory_type,
                                                          view.memory_type_id))) {
    return false;
  }
  call->Keep(owner.release());
  return true;
}

bool AddInputs(Call* call, PyObject* inputs) {
  if (!PyDict_Check(inputs)) {
    PyErr_SetString(PyExc_TypeError, "inputs must be a dict from names to tensors");
    return false;
  }
  // A copy: reading a value may run Python code that changes the dict.
  const Ref items(PyDict_Items(inputs));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) {
    PyObject* const item = PyList_GetItem(items.get(), i);
    if (!AddInput(call, PyTuple_GetItem(item, 0), PyTuple_GetItem(item, 1))) return false;
  }
  return true;
}

bool SetParameter(TRITONSERVER_InferenceRequest* request, PyObject* key_object, PyObject* value) {
  Text key;
  if (!key.Read(key_object, "the name of a parameter")) return false;
  if (PyBool_Check(value)) {
    return Check(
        TRITONSERVER_InferenceRequestSetBoolParameter(request, key.c_str(), value == Py_True));
  }
  if (PyLong_Check(value)) {
    const int64_t number = PyLong_AsLongLong(value);
    if (number == -1 && PyErr_Occurred() != nullptr) return false;
    return Check(TRITONSERVER_InferenceRequestSetIntParameter(request, key.c_str(), number));
  }
  if (PyFloat_Check(value)) {
    return Check(TRITONSERVER_InferenceRequestSetDoubleParameter(request, key.c_str(),
                                                                 PyFloat_AsDouble(value)));
  }
  if (PyUnicode_Check(value)) {
    Text text;
    return text.Read(value, "the value of a parameter") &&
           Check(
               TRITONSERVER_InferenceRequestSetStringParameter(request, key.c_str(), text.c_str()));
  }
  const Ref type(PyObject_Repr(reinterpret_cast<PyObject*>(Py_TYPE(value))));
  Text type_text;
  if (!type || !type_text.Read(type.get(), "the name of a type")) return false;
  const std::string message = std::string("Unsupported Value. Can't convert ") + type_text.c_str() +
                              " to Request Parameter";
  Raise(TRITONSERVER_ERROR_INVALID_ARG, message.c_str());
  return false;
}

bool SetParameters(TRITONSERVER_InferenceRequest* request, PyObject* parameters) {
  if (!PyDict_Check(parameters)) {
    PyErr_SetString(PyExc_TypeError, "parameters must be a dict");
    return false;
  }
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(parameters, &position, &key, &value) != 0) {
    if (!SetParameter(request, key, value)) return false;
  }
  return true;
}

bool SetCorrelationId(TRITONSERVER_InferenceRequest* request, PyObject* id) {
  if (PyUnicode_Check(id)) {
    Text text;
    return text.Read(id, "correlation_id") &&
           Check(TRITONSERVER_InferenceRequestSetCorrelationIdString(request, text.c_str()));
  }
  uint64_t number = 0;
  return ReadNumber(id, &number) &&
         Check(TRITONSERVER_InferenceRequestSetCorrelationId(request, number));
}

bool RequestOutputs(TRITONSERVER_InferenceRequest* request, PyObject* names) {
  const Ref iterator(PyObject_GetIter(names));
  if (!iterator) return false;
  while (const Ref name{PyIter_Next(iterator.get())}) {
    Text text;
    if (!text.Read(name.get(), "the name of an output") ||
        !Check(TRITONSERVER_InferenceRequestAddRequestedOutput(request, text.c_str()))) {
      return false;
    }
  }
  return PyErr_Occurred() == nullptr;
}

/// Sets one of the numbers of the options.
bool SetNumber(TRITONSERVER_InferenceRequest* request, Py_ssize_t index, PyObject* value) {
  uint64_t number = 0;
  if (!ReadNumber(value, &number)) return false;
  switch (index) {
    case 1:
      if (number > UINT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "flags must be less than 2**32");
        return false;
      }
      return Check(TRITONSERVER_InferenceRequestSetFlags(request, static_cast<uint32_t>(number)));
    case 3:
      return Check(TRITONSERVER_InferenceRequestSetPriorityUInt64(request, number));
    default:
      return Check(TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(request, number));
  }
}

bool SetOption(TRITONSERVER_InferenceRequest* request, Py_ssize_t index, PyObject* value) {
  switch (index) {
    case 0: {
      Text id;
      return id.Read(value, "request_id") &&
             Check(TRITONSERVER_InferenceRequestSetId(request, id.c_str()));
    }
    case 2:
      return SetCorrelationId(request, value);
    case 5:
      return SetParameters(request, value);
    case 6:
      return RequestOutputs(request, value);
    default:
      return SetNumber(request, index, value);
  }
}

bool SetOptions(TRITONSERVER_InferenceRequest* request, PyObject* options) {
  if (options == Py_None) return true;
  if (!PyTuple_Check(options) || PyTuple_Size(options) != 7) {
    PyErr_SetString(PyExc_TypeError, "options must be None or a tuple of seven");
    return false;
  }
  for (Py_ssize_t i = 0; i < 7; ++i) {
    PyObject* const value = PyTuple_GetItem(options, i);
    if (value != Py_None && !SetOption(request, i, value)) return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<Call> MakeCall(const std::shared_ptr<Engine>& engine, const char* model,
                               int64_t version, PyObject* inputs, PyObject* options) {
  TRITONSERVER_InferenceRequest* request = nullptr;
  if (!Check(TRITONSERVER_InferenceRequestNew(&request, engine->server(), model, version))) {
    return nullptr;
  }
  std::shared_ptr<Call> call;
  try {
    call = std::make_shared<Call>(engine, request);
  } catch (...) {
    TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceRequestDelete(request));
    throw;
  }
  if (!AddInputs(call.get(), inputs) || !SetOptions(request, options)) return nullptr;
  return call;
}

}  // namespace nereid::python
