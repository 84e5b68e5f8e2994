// SPDX-License-Identifier: Apache-2.0
#include "python/extension/stream.h"

#include <algorithm>

#include "python/extension/errors.h"
#include "python/extension/graveyard.h"
#include "python/extension/response.h"
#include "python/extension/seconds.h"

namespace nereid::python {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// How often a waiting thread looks whether Python has received a signal: a wait without the GIL is
/// not interrupted by one.
constexpr milliseconds kSignalCheck{50};

PyTypeObject* stream_type = nullptr;

struct StreamObject {
  PyObject_HEAD std::shared_ptr<Call> call;
};

std::shared_ptr<Call>& Of(PyObject* self) { return reinterpret_cast<StreamObject*>(self)->call; }

void Dealloc(PyObject* self) {
  Of(self).~shared_ptr();
  FreeObject(self);
  DropBuried();
}

PyObject* Id(PyObject* self, PyObject*) { return PyLong_FromUnsignedLongLong(Of(self)->id()); }

PyObject* Cancel(PyObject* self, PyObject*) {
  const std::shared_ptr<Call> call = Of(self);
  if (!CheckProcess(*call->engine())) return nullptr;
  TRITONSERVER_Error* error = nullptr;
  {
    const GilRelease release;
    error = call->Cancel();
  }
  return Check(error) ? None() : nullptr;
}

/// pop() -> the next response, or None if none has come.
PyObject* Pop(PyObject* self, PyObject*) {
  if (!CheckProcess(*Of(self)->engine())) return nullptr;
  Answer answer;
  if (!Of(self)->Take(&answer)) return None();
  if (answer.final) DropBuried();
  return ResponseTuple(answer);
}

/// wait(seconds: float) -> whether a response has come; a negative number waits without limit.
PyObject* Wait(PyObject* self, PyObject* arguments) {
  double seconds = 0;
  if (!PyArg_ParseTuple(arguments, "d", &seconds)) return nullptr;
  const std::shared_ptr<Call> call = Of(self);
  if (!CheckProcess(*call->engine())) return nullptr;
  constexpr double kMaxSeconds = 1e9;
  const auto deadline = steady_clock::now() + milliseconds(ToMilliseconds(seconds, kMaxSeconds));
  while (true) {
    milliseconds time = kSignalCheck;
    if (seconds >= 0) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
      time = std::clamp(left, milliseconds(0), kSignalCheck);
    }
    bool come = false;
    {
      const GilRelease release;
      come = call->WaitForAnswer(time);
    }
    if (come) Py_RETURN_TRUE;
    if (PyErr_CheckSignals() != 0) return nullptr;
    if (time < kSignalCheck) Py_RETURN_FALSE;
  }
}

/// trace() -> a list of (trace id, parent id, model, activity, nanoseconds).
PyObject* Trace(PyObject* self, PyObject*) {
  const std::vector<TraceEvent> events = Of(self)->TraceEvents();
  Ref list(PyList_New(0));
  if (!list) return nullptr;
  for (const TraceEvent& event : events) {
    const Ref tuple(Py_BuildValue("(KKssK)", static_cast<unsigned long long>(event.trace_id),
                                  static_cast<unsigned long long>(event.parent_id),  // NOLINT
                                  event.model.c_str(), event.activity,
                                  static_cast<unsigned long long>(event.time_ns)));  // NOLINT
    if (!tuple || PyList_Append(list.get(), tuple.get()) < 0) return nullptr;
  }
  return list.release();
}

PyMethodDef methods[] = {{"id", Guarded<Id>, METH_NOARGS, nullptr},
                         {"cancel", Guarded<Cancel>, METH_NOARGS, nullptr},
                         {"pop", Guarded<Pop>, METH_NOARGS, nullptr},
                         {"wait", Guarded<Wait>, METH_VARARGS, nullptr},
                         {"trace", Guarded<Trace>, METH_NOARGS, nullptr},
                         {}};
PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)}, {Py_tp_methods, methods}, {}};
PyType_Spec spec = {"nereid._core.Stream", sizeof(StreamObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

bool AddStreamType(PyObject* module) {
  stream_type = AddType(module, "Stream", &spec);
  return stream_type != nullptr;
}

PyObject* MakeStream(std::shared_ptr<Call> call) {
  PyObject* const self = AllocateObject(stream_type);
  if (self != nullptr) new (&Of(self)) std::shared_ptr<Call>(std::move(call));
  return self;
}

bool WaitForEnd(Call* call) {
  while (true) {
    bool ended = false;
    {
      const GilRelease release;
      ended = call->WaitForEnd(kSignalCheck);
    }
    if (ended) return true;
    if (PyErr_CheckSignals() != 0) {
      TRITONSERVER_ErrorDelete(call->Cancel());
      return false;
    }
  }
}

}  // namespace nereid::python
