// SPDX-License-Identifier: Apache-2.0
// The types BoundQueue and BoundBatch: batches of the backend `bound` in Python.
#include "python/extension/bound.h"

#include <dlfcn.h>

#include <algorithm>

#include "python/extension/bound_batch.h"
#include "python/extension/errors.h"
#include "python/extension/seconds.h"
#include "python/extension/tensors.h"

namespace nereid::python {
namespace {

PyTypeObject* batch_type = nullptr;

struct QueueObject {
  PyObject_HEAD const NEREID_BoundFunctions* functions;
  NEREID_BoundQueue* queue;  // null: freed
  int takers;                // threads that use the queue without the GIL
  bool closed;
};

struct BatchObject {
  PyObject_HEAD std::unique_ptr<BoundBatch> batch;
};

QueueObject& QueueOf(PyObject* self) { return *reinterpret_cast<QueueObject*>(self); }
BoundBatch& BatchOf(PyObject* self) { return *reinterpret_cast<BatchObject*>(self)->batch; }

// ---- The queue ----

/// Opens the plug-in, which stays open, and returns its functions; null with an error.
const NEREID_BoundFunctions* OpenPlugin(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  using Api = const NEREID_BoundFunctions* (*)();
  const auto api =
      library == nullptr ? nullptr : reinterpret_cast<Api>(dlsym(library, "NEREID_BoundApi"));
  const NEREID_BoundFunctions* const functions = api == nullptr ? nullptr : api();
  if (functions == nullptr || functions->version != NEREID_BOUND_VERSION) {
    const char* const reason = library == nullptr ? dlerror() : "it is of another version";
    PyErr_Format(PyExc_ImportError, "the backend %s cannot be used: %s", path, reason);
    return nullptr;
  }
  return functions;
}

/// BoundQueue(path of the plug-in, token)
PyObject* NewQueue(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject* path_object = nullptr;
  PyObject* token_object = nullptr;
  Text path;
  Text token;
  if (!PyArg_ParseTuple(arguments, "OO", &path_object, &token_object) ||
      !path.Read(path_object, "path") || !token.Read(token_object, "token")) {
    return nullptr;
  }
  const NEREID_BoundFunctions* const functions = OpenPlugin(path.c_str());
  if (functions == nullptr) return nullptr;
  NEREID_BoundQueue* const queue = functions->open(token.c_str());
  if (queue == nullptr) {
    PyErr_Format(PyExc_ValueError, "the token %s is in use", token.c_str());
    return nullptr;
  }
  PyObject* const self = AllocateObject(type);
  if (self == nullptr) {
    functions->close(queue);
    functions->free(queue);
    return nullptr;
  }
  QueueOf(self).functions = functions;
  QueueOf(self).queue = queue;
  return self;
}

/// Frees the queue of an object that is closed, if no thread uses it.
void FreeUnused(QueueObject& object) {
  if (object.closed && object.takers == 0 && object.queue != nullptr) {
    object.functions->free(std::exchange(object.queue, nullptr));
  }
}

/// close() -> None. Threads in take() return at once.
PyObject* CloseQueue(PyObject* self, PyObject*) {
  QueueObject& object = QueueOf(self);
  if (!std::exchange(object.closed, true)) {
    ++object.takers;
    {
      const GilRelease release;
      object.functions->close(object.queue);
    }
    --object.takers;
    FreeUnused(object);
  }
  return None();
}

void DeallocQueue(PyObject* self) {
  const Ref done(CloseQueue(self, nullptr));
  FreeObject(self);
}

/// take(seconds: float) -> BoundBatch or None
PyObject* Take(PyObject* self, PyObject* arguments) {
  double seconds = 0;
  if (!PyArg_ParseTuple(arguments, "d", &seconds)) return nullptr;
  QueueObject& queue = QueueOf(self);
  if (queue.closed) return None();
  constexpr double kMaxSeconds = 3600;
  const auto timeout_ms = static_cast<uint32_t>(ToMilliseconds(seconds, kMaxSeconds));
  NEREID_BoundBatch* taken = nullptr;
  ++queue.takers;
  {
    const GilRelease release;
    taken = queue.functions->take(queue.queue, timeout_ms);
  }
  --queue.takers;
  FreeUnused(queue);
  if (taken == nullptr) return None();
  std::unique_ptr<BoundBatch> batch;
  try {
    batch = std::make_unique<BoundBatch>(queue.functions, taken);
  } catch (const std::bad_alloc&) {
    // The engine answers the requests, because nobody has.
    static constexpr bool kFailed[4096] = {};
    queue.functions->finish(taken, kFailed);
    throw;
  }
  PyObject* const object = AllocateObject(batch_type);
  if (object == nullptr) return nullptr;
  new (&reinterpret_cast<BatchObject*>(object)->batch)
      std::unique_ptr<BoundBatch>(std::move(batch));
  return object;
}

// ---- The batch ----

void DeallocBatch(PyObject* self) {
  DestroyOwner(&reinterpret_cast<BatchObject*>(self)->batch);
  FreeObject(self);
}

PyObject* Requests(PyObject* self, PyObject*) { return RequestTuples(BatchOf(self)); }

PyObject* Count(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLong(BatchOf(self).count());
}

PyObject* Finish(PyObject* self, PyObject*) {
  {
    const GilRelease release;
    BatchOf(self).Finish();
  }
  return None();
}

PyObject* IsCancelled(PyObject* self, PyObject* arguments) {
  unsigned int index = 0;
  if (!PyArg_ParseTuple(arguments, "I", &index)) return nullptr;
  return PyBool_FromLong(BatchOf(self).IsCancelled(index) ? 1 : 0);
}

/// Copies a tensor into an output of the response.
bool AddOutput(TRITONBACKEND_Response* response, PyObject* name_object, PyObject* value) {
  Text name;
  TensorView view;
  Ref owner;
  if (!name.Read(name_object, "the name of an output") || !ReadTensor(value, &view, &owner)) {
    return false;
  }
  TRITONBACKEND_Output* output = nullptr;
  void* buffer = nullptr;
  TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
  int64_t memory_type_id = 0;
  if (!Check(TRITONBACKEND_ResponseOutput(response, &output, name.c_str(), view.type,
                                          view.shape.data(),
                                          static_cast<uint32_t>(view.shape.size()))) ||
      !Check(TRITONBACKEND_OutputBuffer(output, &buffer, view.byte_size, &memory_type,
                                        &memory_type_id))) {
    return false;
  }
  if (memory_type == TRITONSERVER_MEMORY_GPU || view.memory_type == TRITONSERVER_MEMORY_GPU) {
    Raise(TRITONSERVER_ERROR_UNSUPPORTED,
          "the tensors of a Python function must be in memory of the CPU");
    return false;
  }
  if (view.byte_size > 0) {
    const GilRelease release;
    std::memcpy(buffer, view.data, view.byte_size);
  }
  return true;
}

bool AddOutputs(TRITONBACKEND_Response* response, PyObject* outputs) {
  if (!PyDict_Check(outputs)) {
    PyErr_SetString(PyExc_TypeError, "outputs must be a dict from names to tensors");
    return false;
  }
  const Ref items(PyDict_Items(outputs));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) {
    PyObject* const item = PyList_GetItem(items.get(), i);
    if (!AddOutput(response, PyTuple_GetItem(item, 0), PyTuple_GetItem(item, 1))) return false;
  }
  return true;
}

/// send(index, outputs: dict, final: bool) -> None
PyObject* Send(PyObject* self, PyObject* arguments) {
  unsigned int index = 0;
  PyObject* outputs = nullptr;
  int final = 0;
  if (!PyArg_ParseTuple(arguments, "IOp", &index, &outputs, &final)) return nullptr;
  BoundBatch& batch = BatchOf(self);
  TRITONBACKEND_Response* response = nullptr;
  if (!Check(batch.NewResponse(index, &response))) return nullptr;
  if (!AddOutputs(response, outputs)) {
    TRITONSERVER_ErrorDelete(TRITONBACKEND_ResponseDelete(response));
    return nullptr;
  }
  TRITONSERVER_Error* error = nullptr;
  {
    const GilRelease release;  // the receiver runs on this thread
    error = batch.Send(index, response, final != 0, nullptr);
  }
  return Check(error) ? None() : nullptr;
}

/// fail(index, code, message, final: bool) -> None
PyObject* Fail(PyObject* self, PyObject* arguments) {
  unsigned int index = 0;
  int code = 0;
  int final = 0;
  PyObject* message_object = nullptr;
  Text message;
  if (!PyArg_ParseTuple(arguments, "IiOp", &index, &code, &message_object, &final) ||
      !message.Read(message_object, "message")) {
    return nullptr;
  }
  BoundBatch& batch = BatchOf(self);
  TRITONBACKEND_Response* response = nullptr;
  if (!Check(batch.NewResponse(index, &response))) return nullptr;
  TRITONSERVER_Error* const failure =
      TRITONSERVER_ErrorNew(static_cast<TRITONSERVER_Error_Code>(code), message.c_str());
  TRITONSERVER_Error* error = nullptr;
  {
    const GilRelease release;
    error = batch.Send(index, response, final != 0, failure);
  }
  TRITONSERVER_ErrorDelete(failure);
  return Check(error) ? None() : nullptr;
}

PyMethodDef queue_methods[] = {{"take", Guarded<Take>, METH_VARARGS, nullptr},
                               {"close", Guarded<CloseQueue>, METH_NOARGS, nullptr},
                               {}};
PyType_Slot queue_slots[] = {{Py_tp_new, reinterpret_cast<void*>(GuardedNew<NewQueue>)},
                             {Py_tp_dealloc, reinterpret_cast<void*>(DeallocQueue)},
                             {Py_tp_methods, queue_methods},
                             {}};
PyType_Spec queue_spec = {"nereid._core.BoundQueue", sizeof(QueueObject), 0, Py_TPFLAGS_DEFAULT,
                          queue_slots};
PyMethodDef batch_methods[] = {{"count", Guarded<Count>, METH_NOARGS, nullptr},
                               {"requests", Guarded<Requests>, METH_NOARGS, nullptr},
                               {"send", Guarded<Send>, METH_VARARGS, nullptr},
                               {"fail", Guarded<Fail>, METH_VARARGS, nullptr},
                               {"is_cancelled", Guarded<IsCancelled>, METH_VARARGS, nullptr},
                               {"finish", Guarded<Finish>, METH_NOARGS, nullptr},
                               {}};
PyType_Slot batch_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(DeallocBatch)}, {Py_tp_methods, batch_methods}, {}};
PyType_Spec batch_spec = {"nereid._core.BoundBatch", sizeof(BatchObject), 0, Py_TPFLAGS_DEFAULT,
                          batch_slots};

}  // namespace

bool AddBoundTypes(PyObject* module) {
  batch_type = AddType(module, "BoundBatch", &batch_spec);
  return batch_type != nullptr && AddType(module, "BoundQueue", &queue_spec) != nullptr;
}

}  // namespace nereid::python
