// SPDX-License-Identifier: Apache-2.0
#pragma once

// Python's limited API of version 3.9, and the few things that every source of the extension needs.
//
// Rules of the extension:
//  - No thread of the engine ever takes the GIL. Callbacks of the engine touch only C++ objects
//    (call.h, batches of the bound backend); Python threads fetch what has come.
//  - A Python thread releases the GIL around every call of the engine that may wait or run a model.
//  - A function that returns null or false has set Python's error.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace nereid::python {

/// An owned reference to a Python object, or null. Used with the GIL held.
class Ref {
 public:
  Ref() = default;
  /// Takes the reference of a function that returns a new one.
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  static Ref Borrow(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Releases the GIL in its scope.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() { PyEval_RestoreThread(state_); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// The UTF-8 bytes of a Python string, as a C string.
class Text {
 public:
  /// Returns false with TypeError if `object` is not a str, and with ValueError if it contains a
  /// NUL, which the C API cannot express. `what` names the argument in the message.
  bool Read(PyObject* object, const char* what) {
    if (!PyUnicode_Check(object)) {
      PyErr_Format(PyExc_TypeError, "%s must be a str", what);
      return false;
    }
    bytes_ = Ref(PyUnicode_AsUTF8String(object));
    if (!bytes_) return false;
    char* data = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(bytes_.get(), &data, &size) < 0) return false;
    if (std::strlen(data) != static_cast<size_t>(size)) {
      PyErr_Format(PyExc_ValueError, "%s contains a NUL character", what);
      return false;
    }
    data_ = data;
    return true;
  }
  const char* c_str() const { return data_; }

 private:
  Ref bytes_;
  const char* data_ = "";
};

/// Wraps a method so that a failed allocation becomes MemoryError.
template <PyObject* (*kMethod)(PyObject*, PyObject*)>
PyObject* Guarded(PyObject* self, PyObject* arguments) noexcept {
  try {
    return kMethod(self, arguments);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

/// Returns a new reference to None.
inline PyObject* None() {
  Py_INCREF(Py_None);
  return Py_None;
}

/// Makes the heap type that `spec` describes and adds it to the module under `name`. Returns null
/// on failure; the result is a borrowed reference that lives as long as the module.
inline PyTypeObject* AddType(PyObject* module, const char* name, PyType_Spec* spec) {
  PyObject* type = PyType_FromSpec(spec);
  if (type == nullptr || PyModule_AddObject(module, name, type) < 0) return nullptr;
  return reinterpret_cast<PyTypeObject*>(type);
}

/// Allocates an object of a heap type, whose members the caller constructs. Null with MemoryError.
inline PyObject* AllocateObject(PyTypeObject* type) {
  const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  return allocate(type, 0);
}

/// The function tp_new of a type: calls kNew, and makes a std::bad_alloc Python's MemoryError.
template <newfunc kNew>
PyObject* GuardedNew(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  try {
    return kNew(type, arguments, keywords);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

/// Destroys a smart pointer that is a member of a Python object. What it owns is destroyed without
/// the GIL.
template <typename Owner>
void DestroyOwner(Owner* owner) {
  {
    Owner taken = std::move(*owner);
    const GilRelease release;
    taken.reset();
  }
  owner->~Owner();
}

/// Frees the memory of an object of a heap type, after its members were destroyed.
inline void FreeObject(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  const auto free = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free(self);
  Py_DECREF(type);
}

}  // namespace nereid::python
