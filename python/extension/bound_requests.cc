// SPDX-License-Identifier: Apache-2.0
// The requests of a batch as Python objects.
#include "python/extension/bound_batch.h"
#include "python/extension/errors.h"
#include "python/extension/tensors.h"

namespace nereid::python {
namespace {

constexpr char kCopyName[] = "nereid.copy";

struct InputView {
  TRITONBACKEND_Input* input = nullptr;
  const char* name = "";
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  const int64_t* shape = nullptr;
  uint32_t dim_count = 0;
  uint64_t byte_size = 0;
  uint32_t buffer_count = 0;
};

/// Copies the bytes of an input to `memory`, without the GIL.
bool CopyBytes(const InputView& view, char* memory) {
  uint64_t copied = 0;
  for (uint32_t i = 0; i < view.buffer_count; ++i) {
    const void* buffer = nullptr;
    uint64_t size = 0;
    TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
    int64_t memory_type_id = 0;
    if (!Check(TRITONBACKEND_InputBuffer(view.input, i, &buffer, &size, &memory_type,
                                         &memory_type_id))) {
      return false;
    }
    if (memory_type == TRITONSERVER_MEMORY_GPU || size > view.byte_size - copied) {
      Raise(TRITONSERVER_ERROR_UNSUPPORTED,
            "the tensors of a Python function must be in memory of the CPU");
      return false;
    }
    if (size > 0) {
      const GilRelease release;
      std::memcpy(memory + copied, buffer, size);
    }
    copied += size;
  }
  return true;
}

/// Returns (name, data type, shape, address, byte size, owner).
PyObject* InputTuple(TRITONBACKEND_Request* request, uint32_t index) {
  InputView view;
  if (!Check(TRITONBACKEND_RequestInputByIndex(request, index, &view.input)) ||
      !Check(TRITONBACKEND_InputProperties(view.input, &view.name, &view.type, &view.shape,
                                           &view.dim_count, &view.byte_size, &view.buffer_count))) {
    return nullptr;
  }
  constexpr size_t kAlignment = 64;
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment, view.byte_size > 0 ? view.byte_size : 1) != 0) {
    return PyErr_NoMemory();
  }
  Ref owner(PyCapsule_New(memory, kCopyName, [](PyObject* capsule) {
    std::free(PyCapsule_GetPointer(capsule, kCopyName));
  }));
  if (!owner) {
    std::free(memory);
    return nullptr;
  }
  Ref shape(ShapeTuple(view.shape, view.dim_count));
  if (!shape || !CopyBytes(view, static_cast<char*>(memory))) return nullptr;
  return Py_BuildValue("(siNKKN)", view.name, static_cast<int>(view.type), shape.release(),
                       static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(memory)),
                       static_cast<unsigned long long>(view.byte_size),  // NOLINT: "K"
                       owner.release());
}

PyObject* Inputs(TRITONBACKEND_Request* request) {
  uint32_t count = 0;
  if (!Check(TRITONBACKEND_RequestInputCount(request, &count))) return nullptr;
  Ref list(PyList_New(0));
  for (uint32_t i = 0; list && i < count; ++i) {
    const Ref input(InputTuple(request, i));
    if (!input || PyList_Append(list.get(), input.get()) < 0) return nullptr;
  }
  return list.release();
}

PyObject* OutputNames(TRITONBACKEND_Request* request) {
  uint32_t count = 0;
  if (!Check(TRITONBACKEND_RequestOutputCount(request, &count))) return nullptr;
  Ref list(PyList_New(0));
  for (uint32_t i = 0; list && i < count; ++i) {
    const char* name = nullptr;
    if (!Check(TRITONBACKEND_RequestOutputName(request, i, &name))) return nullptr;
    const Ref text(PyUnicode_FromString(name));
    if (!text || PyList_Append(list.get(), text.get()) < 0) return nullptr;
  }
  return list.release();
}

PyObject* ParameterValue(TRITONSERVER_ParameterType type, const void* value) {
  switch (type) {
    case TRITONSERVER_PARAMETER_STRING: {
      const char* const text = static_cast<const char*>(value);
      return PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace");
    }
    case TRITONSERVER_PARAMETER_INT:
      return PyLong_FromLongLong(*static_cast<const int64_t*>(value));
    case TRITONSERVER_PARAMETER_BOOL:
      return PyBool_FromLong(*static_cast<const bool*>(value) ? 1 : 0);
    case TRITONSERVER_PARAMETER_DOUBLE:
      return PyFloat_FromDouble(*static_cast<const double*>(value));
    default:
      return None();
  }
}

PyObject* Parameters(TRITONBACKEND_Request* request) {
  uint32_t count = 0;
  if (!Check(TRITONBACKEND_RequestParameterCount(request, &count))) return nullptr;
  Ref dict(PyDict_New());
  for (uint32_t i = 0; dict && i < count; ++i) {
    const char* key = nullptr;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
    const void* data = nullptr;
    if (!Check(TRITONBACKEND_RequestParameter(request, i, &key, &type, &data))) return nullptr;
    const Ref name(PyUnicode_DecodeUTF8(key, static_cast<Py_ssize_t>(std::strlen(key)), "replace"));
    const Ref value(name ? ParameterValue(type, data) : nullptr);
    if (!value || PyDict_SetItem(dict.get(), name.get(), value.get()) < 0) return nullptr;
  }
  return dict.release();
}

/// Returns the context of the request's trace as JSON; an empty text if it has none.
PyObject* TraceContext(TRITONBACKEND_Request* request) {
  TRITONSERVER_InferenceTrace* trace = nullptr;
  const char* context = nullptr;
  TRITONSERVER_ErrorDelete(TRITONBACKEND_RequestTrace(request, &trace));
  if (trace != nullptr) {
    TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceTraceContext(trace, &context));
  }
  return PyUnicode_FromString(context != nullptr ? context : "");
}

PyObject* RequestTuple(TRITONBACKEND_Request* request) {
  const char* id = nullptr;
  if (!Check(TRITONBACKEND_RequestId(request, &id))) return nullptr;
  Ref parameters(Parameters(request));
  Ref outputs(parameters ? OutputNames(request) : nullptr);
  Ref inputs(outputs ? Inputs(request) : nullptr);
  Ref trace(inputs ? TraceContext(request) : nullptr);
  if (!trace) return nullptr;
  return Py_BuildValue("(sNNNN)", id != nullptr ? id : "", parameters.release(), outputs.release(),
                       inputs.release(), trace.release());
}

}  // namespace

PyObject* RequestTuples(const BoundBatch& batch) {
  Ref list(PyList_New(0));
  for (uint32_t i = 0; list && i < batch.count(); ++i) {
    if (batch.request(i) == nullptr) {
      return Raise(TRITONSERVER_ERROR_INVALID_ARG, "the batch is finished");
    }
    const Ref request(RequestTuple(batch.request(i)));
    if (!request || PyList_Append(list.get(), request.get()) < 0) return nullptr;
  }
  return list.release();
}

}  // namespace nereid::python
