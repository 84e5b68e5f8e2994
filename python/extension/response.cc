// SPDX-License-Identifier: Apache-2.0
#include "python/extension/response.h"

#include "python/extension/tensors.h"

namespace nereid::python {
namespace {

constexpr char kOwnerName[] = "nereid.response";

/// Returns a capsule that keeps the response.
PyObject* OwnerOf(const std::shared_ptr<Received>& response) {
  auto reference = std::make_unique<std::shared_ptr<Received>>(response);
  const auto destroy = [](PyObject* capsule) {
    delete static_cast<std::shared_ptr<Received>*>(PyCapsule_GetPointer(capsule, kOwnerName));
  };
  PyObject* const capsule = PyCapsule_New(reference.get(), kOwnerName, destroy);
  if (capsule != nullptr) reference.release();
  return capsule;
}

/// Returns a text of the engine; bytes that are not UTF-8 become U+FFFD.
PyObject* DecodeText(const std::string& text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

PyObject* ToPython(const std::string& value) { return DecodeText(value); }
PyObject* ToPython(int64_t value) { return PyLong_FromLongLong(value); }
PyObject* ToPython(bool value) { return PyBool_FromLong(value ? 1 : 0); }
PyObject* ToPython(double value) { return PyFloat_FromDouble(value); }

/// Returns the parameters as a dict, or None if there are none.
PyObject* ParametersOf(const Received& response) {
  if (response.parameters.empty()) return None();
  Ref parameters(PyDict_New());
  if (!parameters) return nullptr;
  for (const ReceivedParameter& parameter : response.parameters) {
    const Ref key(DecodeText(parameter.name));
    const Ref value(std::visit([](const auto& held) { return ToPython(held); }, parameter.value));
    if (!key || !value || PyDict_SetItem(parameters.get(), key.get(), value.get()) < 0) {
      return nullptr;
    }
  }
  return parameters.release();
}

/// Returns (name, data type, shape, address, byte size, memory type, memory type id).
PyObject* OutputTuple(const ReceivedOutput& output) {
  Ref name(DecodeText(output.name));
  Ref shape(ShapeTuple(output.shape.data(), output.shape.size()));
  if (!name || !shape) return nullptr;
  const auto address = static_cast<unsigned long long>(  // NOLINT: the type of the format "K"
      reinterpret_cast<uintptr_t>(output.data));
  return Py_BuildValue("(NiNKniL)", name.release(), static_cast<int>(output.type), shape.release(),
                       address, static_cast<Py_ssize_t>(output.byte_size),
                       static_cast<int>(output.memory_type),
                       static_cast<long long>(output.memory_type_id));  // NOLINT: "L"
}

PyObject* OutputsOf(const Received& response) {
  Ref outputs(PyTuple_New(static_cast<Py_ssize_t>(response.outputs.size())));
  Py_ssize_t index = 0;
  for (const ReceivedOutput& received : response.outputs) {
    PyObject* const output = outputs ? OutputTuple(received) : nullptr;
    if (output == nullptr || PyTuple_SetItem(outputs.get(), index++, output) < 0) return nullptr;
  }
  return outputs.release();
}

/// Returns None, or the code and the message of the response's error.
PyObject* ErrorOf(const Received& response) {
  if (response.error_code < 0) return None();
  Ref message(DecodeText(response.error_message));
  if (!message) return nullptr;
  return Py_BuildValue("(iN)", response.error_code, message.release());
}

}  // namespace

PyObject* ResponseTuple(const Answer& answer) {
  if (answer.lost) return PyErr_NoMemory();
  if (answer.response == nullptr) {
    return Py_BuildValue("(OiOO()OiO)", Py_None, -1, Py_None, Py_None, Py_None,
                         answer.final ? 1 : 0, Py_None);
  }
  const Received& response = *answer.response;
  Ref model(DecodeText(response.model));
  Ref request_id(DecodeText(response.request_id));
  Ref error(ErrorOf(response));
  Ref parameters(ParametersOf(response));
  Ref outputs(OutputsOf(response));
  Ref owner(OwnerOf(answer.response));
  if (!model || !request_id || !error || !parameters || !outputs || !owner) return nullptr;
  return Py_BuildValue("(NLNNNNiN)", model.release(),
                       static_cast<long long>(response.version),  // NOLINT: "L"
                       request_id.release(), parameters.release(), outputs.release(),
                       error.release(), answer.final ? 1 : 0, owner.release());
}

}  // namespace nereid::python
