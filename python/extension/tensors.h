// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "python/extension/python.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

/// Where the bytes of a tensor are, and what they mean.
struct TensorView {
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> shape;
  const void* data = nullptr;
  size_t byte_size = 0;
  TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
  int64_t memory_type_id = 0;
};

/// Reads a tensor of a request. `value` is one of
///  - a contiguous NumPy array of numbers or bools (any object with such an __array_struct__);
///  - a tuple (data type, shape, address, byte size, memory type, memory type id, owner) of ints, a
///    tuple of ints, and the object that keeps the memory;
///  - another object, which the converter of set_converter() makes such a tuple of.
/// Sets `owner` to the object that keeps the memory.
bool ReadTensor(PyObject* value, TensorView* view, Ref* owner);

/// set_converter(function): see ReadTensor.
PyObject* SetConverter(PyObject* module, PyObject* function);

/// Returns the shape as a tuple of ints, or null.
PyObject* ShapeTuple(const int64_t* shape, size_t count);

// Functions of the module; _core.pyi describes their arguments.
PyObject* ExportDlpack(PyObject* module, PyObject* arguments);
PyObject* ImportDlpack(PyObject* module, PyObject* capsule);
PyObject* ExportArrayStruct(PyObject* module, PyObject* arguments);
PyObject* PackStrings(PyObject* module, PyObject* arguments);
PyObject* UnpackStrings(PyObject* module, PyObject* arguments);

}  // namespace nereid::python
