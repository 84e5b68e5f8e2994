// SPDX-License-Identifier: Apache-2.0
#include "python/extension/waker.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "python/extension/call.h"
#include "python/extension/graveyard.h"

namespace nereid::python {
namespace {

PyTypeObject* waker_type = nullptr;

struct WakerObject {
  PyObject_HEAD std::shared_ptr<Waker> waker;
};

std::shared_ptr<Waker>& Of(PyObject* self) { return reinterpret_cast<WakerObject*>(self)->waker; }

PyObject* New(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* const self = AllocateObject(type);
  if (self == nullptr) return nullptr;
  new (&Of(self)) std::shared_ptr<Waker>();
  try {
    Of(self) = std::make_shared<Waker>();
  } catch (const std::bad_alloc&) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  if (Of(self)->descriptor() < 0) {
    Py_DECREF(self);
    return PyErr_SetFromErrno(PyExc_OSError);
  }
  return self;
}

void Dealloc(PyObject* self) {
  if (Of(self) != nullptr) Of(self)->Close();
  Of(self).~shared_ptr();
  FreeObject(self);
}

PyObject* Fileno(PyObject* self, PyObject*) { return PyLong_FromLong(Of(self)->descriptor()); }

PyObject* TakeIds(PyObject* self, PyObject*) {
  const std::vector<std::shared_ptr<Call>> calls = Of(self)->Take();
  Ref ids(PyList_New(0));
  if (!ids) return nullptr;
  for (const std::shared_ptr<Call>& call : calls) {
    Ref id(PyLong_FromUnsignedLongLong(call->id()));
    if (!id || PyList_Append(ids.get(), id.get()) < 0) return nullptr;
  }
  return ids.release();
}

PyMethodDef methods[] = {{"fileno", Guarded<Fileno>, METH_NOARGS, nullptr},
                         {"take", Guarded<TakeIds>, METH_NOARGS, nullptr},
                         {}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(New)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
                       {Py_tp_methods, methods},
                       {}};
PyType_Spec spec = {"nereid._core.Waker", sizeof(WakerObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

Waker::Waker() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Waker::~Waker() {
  if (descriptor_ >= 0) close(descriptor_);
}

void Waker::Tell(std::shared_ptr<Call> call) {
  if (call->listed.exchange(true)) return;
  {
    const base::MutexLock lock(mutex_);
    if (closed_) return;
    calls_.push_back(std::move(call));
  }
  const uint64_t one = 1;
  // A counter that is full is readable, too.
  [[maybe_unused]] const ssize_t written = write(descriptor_, &one, sizeof(one));
}

std::vector<std::shared_ptr<Call>> Waker::Take() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t received = read(descriptor_, &count, sizeof(count));
  std::vector<std::shared_ptr<Call>> calls;
  {
    const base::MutexLock lock(mutex_);
    calls.swap(calls_);
  }
  // From here on a response lists its call anew. The responses before are seen by the taker.
  for (const std::shared_ptr<Call>& call : calls) call->listed.store(false);
  return calls;
}

void Waker::Close() {
  {
    const base::MutexLock lock(mutex_);
    closed_ = true;
  }
  Take();
}

bool AddWakerType(PyObject* module) {
  waker_type = AddType(module, "Waker", &spec);
  return waker_type != nullptr;
}

std::shared_ptr<Waker> WakerOf(PyObject* object) {
  if (PyObject_TypeCheck(object, waker_type) == 0) {
    PyErr_SetString(PyExc_TypeError, "a Waker is needed");
    return nullptr;
  }
  return Of(object);
}

}  // namespace nereid::python
