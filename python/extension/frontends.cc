// SPDX-License-Identifier: Apache-2.0
#include "python/extension/frontends.h"

#include <memory>

#include "nereid/in_process.h"
#include "python/extension/errors.h"
#include "python/extension/parameters.h"
#include "python/extension/seconds.h"
#include "python/extension/server.h"

namespace nereid::python {
namespace {

/// Front ends that run, deleted in the process that started them only.
class RunningFrontends {
 public:
  RunningFrontends(NEREID_Frontends* frontends, std::shared_ptr<Engine> engine)
      : frontends_(frontends), engine_(std::move(engine)) {}
  ~RunningFrontends() {
    if (engine_->IsOurs()) TRITONSERVER_ErrorDelete(NEREID_FrontendsDelete(frontends_));
  }
  RunningFrontends(const RunningFrontends&) = delete;
  RunningFrontends& operator=(const RunningFrontends&) = delete;

  NEREID_Frontends* get() const { return frontends_; }
  const Engine& engine() const { return *engine_; }

 private:
  NEREID_Frontends* const frontends_;
  const std::shared_ptr<Engine> engine_;
};

struct FrontendsObject {
  PyObject_HEAD std::shared_ptr<RunningFrontends> running;
};

std::shared_ptr<RunningFrontends>& Of(PyObject* self) {
  return reinterpret_cast<FrontendsObject*>(self)->running;
}

PyObject* New(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject* server = nullptr;
  PyObject* flag_sequence = nullptr;
  Words flags;
  if (!PyArg_ParseTuple(arguments, "OO", &server, &flag_sequence) || !flags.Read(flag_sequence)) {
    return nullptr;
  }
  std::shared_ptr<Engine> engine = EngineOf(server);
  if (engine == nullptr) return nullptr;
  NEREID_Frontends* frontends = nullptr;
  TRITONSERVER_Error* error = nullptr;
  {
    const GilRelease release;
    error = NEREID_FrontendsStart(&frontends, engine->server(), flags.data(), flags.size());
  }
  if (!Check(error)) return nullptr;
  auto running = std::make_shared<RunningFrontends>(frontends, std::move(engine));
  PyObject* const self = AllocateObject(type);
  if (self != nullptr) new (&Of(self)) std::shared_ptr<RunningFrontends>(std::move(running));
  return self;
}

void Dealloc(PyObject* self) {
  DestroyOwner(&Of(self));
  FreeObject(self);
}

PyObject* Port(PyObject* self, PyObject* arguments) {
  int kind = 0;
  uint16_t port = 0;
  if (!PyArg_ParseTuple(arguments, "i", &kind) ||
      !Check(NEREID_FrontendsPort(Of(self)->get(), static_cast<NEREID_Frontend>(kind), &port))) {
    return nullptr;
  }
  return PyLong_FromUnsignedLong(port);
}

PyObject* Stop(PyObject* self, PyObject* arguments) {
  double seconds = 0;
  if (!PyArg_ParseTuple(arguments, "d", &seconds)) return nullptr;
  const std::shared_ptr<RunningFrontends> running = Of(self);
  if (!CheckProcess(running->engine())) return nullptr;
  constexpr double kMaxSeconds = 1e9;
  const uint64_t timeout_ms = ToMilliseconds(seconds, kMaxSeconds);
  TRITONSERVER_Error* error = nullptr;
  {
    const GilRelease release;
    error = NEREID_FrontendsStop(running->get(), timeout_ms);
  }
  return Check(error) ? None() : nullptr;
}

PyMethodDef methods[] = {{"port", Guarded<Port>, METH_VARARGS, nullptr},
                         {"stop", Guarded<Stop>, METH_VARARGS, nullptr},
                         {}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(GuardedNew<New>)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
                       {Py_tp_methods, methods},
                       {}};
PyType_Spec spec = {"nereid._core.Frontends", sizeof(FrontendsObject), 0, Py_TPFLAGS_DEFAULT,
                    slots};

}  // namespace

bool AddFrontendsType(PyObject* module) { return AddType(module, "Frontends", &spec) != nullptr; }

}  // namespace nereid::python
