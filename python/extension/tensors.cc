// SPDX-License-Identifier: Apache-2.0
// Tensors that Python gives to the engine: NumPy's array interface, tuples, strings.
#include "python/extension/tensors.h"

#include <limits>

#include "python/extension/array_struct.h"

namespace nereid::python {
namespace {

PyObject* converter = nullptr;  // owned

/// Returns the attribute name __array_struct__, made once.
PyObject* ArrayStructName() {
  static PyObject* const name = PyUnicode_InternFromString("__array_struct__");
  return name;
}

/// Reads a tuple of ReadTensor.
bool ReadTuple(PyObject* tuple, TensorView* view, Ref* owner) {
  int type = 0;
  int memory_type = 0;
  unsigned long long address = 0;  // NOLINT: the type of the format "K"
  unsigned long long byte_size = 0;
  long long memory_type_id = 0;
  PyObject* shape = nullptr;
  PyObject* keeper = nullptr;
  if (!PyArg_ParseTuple(tuple, "iOKKiLO", &type, &shape, &address, &byte_size, &memory_type,
                        &memory_type_id, &keeper)) {
    return false;
  }
  if (!PyTuple_Check(shape)) {
    PyErr_SetString(PyExc_TypeError, "the shape of a tensor must be a tuple of int");
    return false;
  }
  const Py_ssize_t count = PyTuple_Size(shape);
  view->shape.resize(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    const int64_t dim = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    if (dim == -1 && PyErr_Occurred() != nullptr) return false;
    view->shape[static_cast<size_t>(i)] = dim;
  }
  view->type = static_cast<TRITONSERVER_DataType>(type);
  view->data = reinterpret_cast<const void*>(static_cast<uintptr_t>(address));
  view->byte_size = byte_size;
  view->memory_type = static_cast<TRITONSERVER_MemoryType>(memory_type);
  view->memory_type_id = memory_type_id;
  *owner = Ref::Borrow(keeper);
  return true;
}

/// Reads a NumPy array that needs no conversion. Returns false without an error for others.
bool ReadArray(PyObject* value, TensorView* view) {
  const Ref capsule(PyObject_GetAttr(value, ArrayStructName()));
  if (!capsule) {
    PyErr_Clear();
    return false;
  }
  const auto* const array =
      static_cast<const ArrayStruct*>(PyCapsule_GetPointer(capsule.get(), nullptr));
  if (array == nullptr || array->two != 2) {
    PyErr_Clear();
    return false;
  }
  view->type = DataTypeOf(*array);
  if (view->type == TRITONSERVER_TYPE_INVALID || !array->IsPlain()) return false;
  uint64_t count = 1;
  view->shape.resize(static_cast<size_t>(array->nd));
  for (int i = 0; i < array->nd; ++i) {
    view->shape[static_cast<size_t>(i)] = array->shape[i];
    count *= static_cast<uint64_t>(array->shape[i]);  // the array exists, so it cannot overflow
  }
  view->data = array->data;
  view->byte_size = count * static_cast<uint64_t>(array->itemsize);
  return true;
}

/// The length of a string in a tensor of BYTES.
constexpr size_t kLengthSize = sizeof(uint32_t);

/// Sets `bytes` to the bytes of an element of BYTES: those of a str in UTF-8, or of the object.
bool ReadString(PyObject* item, Ref* bytes) {
  if (PyBytes_Check(item)) {
    *bytes = Ref::Borrow(item);
  } else if (PyUnicode_Check(item)) {
    *bytes = Ref(PyUnicode_AsUTF8String(item));
  } else {
    // The bytes of a bytearray or memoryview, and the text of any other object.
    const bool is_text = !PyByteArray_Check(item) && !PyMemoryView_Check(item);
    const Ref text(is_text ? PyObject_Str(item) : nullptr);
    if (is_text && !text) return false;
    *bytes = Ref(is_text ? PyUnicode_AsUTF8String(text.get()) : PyBytes_FromObject(item));
  }
  return static_cast<bool>(*bytes);
}

}  // namespace

PyObject* SetConverter(PyObject*, PyObject* function) {
  const Ref old(std::exchange(converter, Ref::Borrow(function).release()));
  return None();
}

bool ReadTensor(PyObject* value, TensorView* view, Ref* owner) {
  if (PyTuple_Check(value)) return ReadTuple(value, view, owner);
  if (ReadArray(value, view)) {
    *owner = Ref::Borrow(value);
    return true;
  }
  if (converter == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "no converter is set");
    return false;
  }
  const Ref tuple(PyObject_CallFunctionObjArgs(converter, value, nullptr));
  if (!tuple) return false;
  if (!PyTuple_Check(tuple.get())) {
    PyErr_SetString(PyExc_TypeError, "the converter did not return a tuple");
    return false;
  }
  return ReadTuple(tuple.get(), view, owner);
}

PyObject* ShapeTuple(const int64_t* shape, size_t count) {
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
  if (!tuple) return nullptr;
  for (size_t i = 0; i < count; ++i) {
    PyObject* const dim = PyLong_FromLongLong(shape[i]);
    if (dim == nullptr || PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), dim) < 0) {
      return nullptr;
    }
  }
  return tuple.release();
}

PyObject* PackStrings(PyObject*, PyObject* arguments) {
  PyObject* list = nullptr;
  if (!PyArg_ParseTuple(arguments, "O", &list)) return nullptr;
  if (!PyList_Check(list)) {
    PyErr_SetString(PyExc_TypeError, "a list is needed");
    return nullptr;
  }
  std::string packed;
  for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
    Ref bytes;
    char* data = nullptr;
    Py_ssize_t size = 0;
    const Ref item = Ref::Borrow(PyList_GetItem(list, i));  // its text may change the list
    if (!ReadString(item.get(), &bytes)) return nullptr;
    if (PyBytes_AsStringAndSize(bytes.get(), &data, &size) < 0) return nullptr;
    if (static_cast<uint64_t>(size) > std::numeric_limits<uint32_t>::max()) {
      PyErr_Format(PyExc_ValueError, "element %zd of a BYTES tensor has %zd bytes, more than 4 GiB",
                   i, size);
      return nullptr;
    }
    const auto length = static_cast<uint32_t>(size);
    packed.append(reinterpret_cast<const char*>(&length), kLengthSize);
    packed.append(data, length);
  }
  Ref bytes(PyBytes_FromStringAndSize(packed.data(), static_cast<Py_ssize_t>(packed.size())));
  if (!bytes) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(PyBytes_AsString(bytes.get()));
  return Py_BuildValue("(KnO)", static_cast<unsigned long long>(address),  // NOLINT: "K"
                       static_cast<Py_ssize_t>(packed.size()), bytes.get());
}

PyObject* UnpackStrings(PyObject*, PyObject* arguments) {
  unsigned long long address = 0;  // NOLINT: the type of the format "K"
  unsigned long long size = 0;
  if (!PyArg_ParseTuple(arguments, "KK", &address, &size)) return nullptr;
  const char* data = reinterpret_cast<const char*>(static_cast<uintptr_t>(address));
  Ref list(PyList_New(0));
  if (!list) return nullptr;
  for (const char* const end = data + size; data < end;) {
    uint32_t length = 0;
    const auto left = static_cast<size_t>(end - data);
    if (left >= kLengthSize) std::memcpy(&length, data, kLengthSize);
    if (left < kLengthSize || left - kLengthSize < length) {
      PyErr_SetString(PyExc_ValueError, "a BYTES tensor ends within an element");
      return nullptr;
    }
    const Ref bytes(PyBytes_FromStringAndSize(data + kLengthSize, length));
    if (!bytes || PyList_Append(list.get(), bytes.get()) < 0) return nullptr;
    data += kLengthSize + length;
  }
  return list.release();
}

}  // namespace nereid::python
