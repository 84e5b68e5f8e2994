// SPDX-License-Identifier: Apache-2.0
// The type Server: a server of the engine. Every method checks that it runs.
#include "python/extension/server.h"

#include <vector>

#include "nereid/in_process.h"
#include "python/extension/errors.h"
#include "python/extension/graveyard.h"
#include "python/extension/options.h"
#include "python/extension/parameters.h"
#include "python/extension/request.h"
#include "python/extension/response.h"
#include "python/extension/stream.h"
#include "python/extension/waker.h"

namespace nereid::python {
namespace {

PyTypeObject* server_type = nullptr;

struct ServerObject {
  PyObject_HEAD std::shared_ptr<Engine> engine;  // null: stopped
};

std::shared_ptr<Engine>& Of(PyObject* self) {
  return reinterpret_cast<ServerObject*>(self)->engine;
}

/// Makes a server from options or from flags, without the GIL.
TRITONSERVER_Error* MakeFromOptions(TRITONSERVER_ServerOptions* options,
                                    TRITONSERVER_Server** server) {
  const GilRelease release;
  TRITONSERVER_Error* const error = TRITONSERVER_ServerNew(server, options);
  TRITONSERVER_ErrorDelete(TRITONSERVER_ServerOptionsDelete(options));
  return error;
}

TRITONSERVER_Error* MakeFromFlags(const Words& flags, TRITONSERVER_Server** server) {
  const GilRelease release;
  return NEREID_ServerNewFromFlags(server, flags.data(), flags.size());
}

/// Server(settings, flags): one of them is None. `settings` is a list of MakeOptions (options.h).
PyObject* New(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject* settings = nullptr;
  PyObject* flags = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO", &settings, &flags) || !CheckCanMakeServer()) {
    return nullptr;
  }
  TRITONSERVER_Server* server = nullptr;
  TRITONSERVER_Error* error = nullptr;
  if (settings != Py_None) {
    TRITONSERVER_ServerOptions* const options = MakeOptions(settings);
    if (options == nullptr) return nullptr;
    error = MakeFromOptions(options, &server);
  } else {
    Words words;
    if (!words.Read(flags)) return nullptr;
    error = MakeFromFlags(words, &server);
  }
  if (!Check(error)) return nullptr;
  auto engine = std::make_shared<Engine>(server);
  PyObject* const self = AllocateObject(type);
  if (self != nullptr) new (&Of(self)) std::shared_ptr<Engine>(std::move(engine));
  return self;
}

void Dealloc(PyObject* self) {
  DestroyOwner(&Of(self));
  FreeObject(self);
}

PyObject* Stop(PyObject* self, PyObject*) {
  std::shared_ptr<Engine> engine = EngineOf(self);
  if (engine == nullptr) return nullptr;
  TRITONSERVER_Error* error = nullptr;
  {
    const GilRelease release;
    error = TRITONSERVER_ServerStop(engine->server());
  }
  if (!Check(error)) return nullptr;
  Of(self).reset();  // the last call that uses the engine deletes it
  {
    const GilRelease release;
    engine.reset();
  }
  return None();
}

/// Calls a function that returns a message and returns the message's JSON text.
template <typename Function>
PyObject* JsonOf(PyObject* self, Function&& function) {
  const std::shared_ptr<Engine> engine = EngineOf(self);
  if (engine == nullptr) return nullptr;
  TRITONSERVER_Message* message = nullptr;
  TRITONSERVER_Error* error = nullptr;
  const char* text = nullptr;
  size_t size = 0;
  {
    const GilRelease release;
    error = function(engine->server(), &message);
    if (error == nullptr) error = TRITONSERVER_MessageSerializeToJson(message, &text, &size);
  }
  PyObject* const result =
      Check(error) ? PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(size), "replace") : nullptr;
  if (message != nullptr) TRITONSERVER_ErrorDelete(TRITONSERVER_MessageDelete(message));
  return result;
}

PyObject* Metadata(PyObject* self, PyObject*) { return JsonOf(self, TRITONSERVER_ServerMetadata); }

PyObject* ModelIndex(PyObject* self, PyObject* arguments) {
  unsigned int flags = 0;
  if (!PyArg_ParseTuple(arguments, "I", &flags)) return nullptr;
  return JsonOf(self, [&](TRITONSERVER_Server* server, TRITONSERVER_Message** message) {
    return TRITONSERVER_ServerModelIndex(server, flags, message);
  });
}

/// The name and the version that the arguments of a method begin with.
struct ModelArguments {
  Text name;
  long long version = -1;  // NOLINT: the type of the format "L"

  bool Read(PyObject* arguments) {
    PyObject* object = nullptr;
    return PyArg_ParseTuple(arguments, "OL", &object, &version) &&
           name.Read(object, "a model name");
  }
};

PyObject* ModelMetadata(PyObject* self, PyObject* arguments) {
  ModelArguments model;
  if (!model.Read(arguments)) return nullptr;
  return JsonOf(self, [&](TRITONSERVER_Server* server, TRITONSERVER_Message** message) {
    return TRITONSERVER_ServerModelMetadata(server, model.name.c_str(), model.version, message);
  });
}

PyObject* ModelStatistics(PyObject* self, PyObject* arguments) {
  ModelArguments model;
  if (!model.Read(arguments)) return nullptr;
  return JsonOf(self, [&](TRITONSERVER_Server* server, TRITONSERVER_Message** message) {
    return TRITONSERVER_ServerModelStatistics(server, model.name.c_str(), model.version, message);
  });
}

PyObject* ModelConfig(PyObject* self, PyObject* arguments) {
  PyObject* name_object = nullptr;
  long long version = -1;  // NOLINT: the type of the format "L"
  unsigned int config_version = 1;
  Text name;
  if (!PyArg_ParseTuple(arguments, "OLI", &name_object, &version, &config_version) ||
      !name.Read(name_object, "a model name")) {
    return nullptr;
  }
  return JsonOf(self, [&](TRITONSERVER_Server* server, TRITONSERVER_Message** message) {
    return TRITONSERVER_ServerModelConfig(server, name.c_str(), version, config_version, message);
  });
}

PyObject* Metrics(PyObject* self, PyObject* arguments) {
  int format = 0;
  if (!PyArg_ParseTuple(arguments, "i", &format)) return nullptr;
  const std::shared_ptr<Engine> engine = EngineOf(self);
  if (engine == nullptr) return nullptr;
  TRITONSERVER_Metrics* metrics = nullptr;
  const char* text = nullptr;
  size_t size = 0;
  TRITONSERVER_Error* error = nullptr;
  {
    const GilRelease release;
    error = TRITONSERVER_ServerMetrics(engine->server(), &metrics);
    if (error == nullptr) {
      error = TRITONSERVER_MetricsFormatted(metrics, static_cast<TRITONSERVER_MetricFormat>(format),
                                            &text, &size);
    }
  }
  PyObject* const result =
      Check(error) ? PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(size), "replace") : nullptr;
  if (metrics != nullptr) TRITONSERVER_ErrorDelete(TRITONSERVER_MetricsDelete(metrics));
  return result;
}

/// Runs a function of the engine without the GIL and returns its result by `make`.
template <typename Value, typename Function, typename Make>
PyObject* Ask(PyObject* self, Function&& function, Make&& make) {
  const std::shared_ptr<Engine> engine = EngineOf(self);
  if (engine == nullptr) return nullptr;
  Value value{};
  TRITONSERVER_Error* error = nullptr;
  {
    const GilRelease release;
    error = function(engine->server(), &value);
  }
  return Check(error) ? make(value) : nullptr;
}

PyObject* FromBool(bool value) { return PyBool_FromLong(value ? 1 : 0); }
PyObject* FromFlags(uint32_t value) { return PyLong_FromUnsignedLong(value); }

PyObject* IsLive(PyObject* self, PyObject*) {
  return Ask<bool>(self, TRITONSERVER_ServerIsLive, FromBool);
}

PyObject* IsReady(PyObject* self, PyObject*) {
  return Ask<bool>(self, TRITONSERVER_ServerIsReady, FromBool);
}

PyObject* ModelIsReady(PyObject* self, PyObject* arguments) {
  ModelArguments model;
  if (!model.Read(arguments)) return nullptr;
  const auto ask = [&](TRITONSERVER_Server* server, bool* ready) {
    return TRITONSERVER_ServerModelIsReady(server, model.name.c_str(), model.version, ready);
  };
  return Ask<bool>(self, ask, FromBool);
}

PyObject* BatchProperties(PyObject* self, PyObject* arguments) {
  ModelArguments model;
  if (!model.Read(arguments)) return nullptr;
  const auto ask = [&](TRITONSERVER_Server* server, uint32_t* flags) {
    void* unused = nullptr;
    return TRITONSERVER_ServerModelBatchProperties(server, model.name.c_str(), model.version, flags,
                                                   &unused);
  };
  return Ask<uint32_t>(self, ask, FromFlags);
}

PyObject* TransactionProperties(PyObject* self, PyObject* arguments) {
  ModelArguments model;
  if (!model.Read(arguments)) return nullptr;
  const auto ask = [&](TRITONSERVER_Server* server, uint32_t* flags) {
    void* unused = nullptr;
    return TRITONSERVER_ServerModelTransactionProperties(server, model.name.c_str(), model.version,
                                                         flags, &unused);
  };
  return Ask<uint32_t>(self, ask, FromFlags);
}

/// Runs a function of the engine without the GIL; returns None.
template <typename Function>
PyObject* Do(PyObject* self, Function&& function) {
  const std::shared_ptr<Engine> engine = EngineOf(self);
  if (engine == nullptr) return nullptr;
  TRITONSERVER_Error* error = nullptr;
  {
    const GilRelease release;
    error = function(engine->server());
  }
  return Check(error) ? None() : nullptr;
}

/// load(name, parameters: dict or None)
PyObject* Load(PyObject* self, PyObject* arguments) {
  PyObject* name_object = nullptr;
  PyObject* dict = nullptr;
  Text name;
  Parameters parameters;
  if (!PyArg_ParseTuple(arguments, "OO", &name_object, &dict) ||
      !name.Read(name_object, "a model name") || !parameters.Read(dict)) {
    return nullptr;
  }
  return Do(self, [&](TRITONSERVER_Server* server) {
    return TRITONSERVER_ServerLoadModelWithParameters(server, name.c_str(), parameters.data(),
                                                      parameters.size());
  });
}

/// unload(name, with_dependents: bool)
PyObject* Unload(PyObject* self, PyObject* arguments) {
  PyObject* name_object = nullptr;
  int with_dependents = 0;
  Text name;
  if (!PyArg_ParseTuple(arguments, "Op", &name_object, &with_dependents) ||
      !name.Read(name_object, "a model name")) {
    return nullptr;
  }
  return Do(self, [&](TRITONSERVER_Server* server) {
    return with_dependents != 0 ? TRITONSERVER_ServerUnloadModelAndDependents(server, name.c_str())
                                : TRITONSERVER_ServerUnloadModel(server, name.c_str());
  });
}

/// register_repository(path, names: dict or None)
PyObject* RegisterRepository(PyObject* self, PyObject* arguments) {
  PyObject* path_object = nullptr;
  PyObject* dict = nullptr;
  Text path;
  Parameters names;
  if (!PyArg_ParseTuple(arguments, "OO", &path_object, &dict) ||
      !path.Read(path_object, "a repository path") || !names.Read(dict)) {
    return nullptr;
  }
  return Do(self, [&](TRITONSERVER_Server* server) {
    return TRITONSERVER_ServerRegisterModelRepository(server, path.c_str(), names.data(),
                                                      static_cast<uint32_t>(names.size()));
  });
}

PyObject* UnregisterRepository(PyObject* self, PyObject* path_object) {
  Text path;
  if (!path.Read(path_object, "a repository path")) return nullptr;
  return Do(self, [&](TRITONSERVER_Server* server) {
    return TRITONSERVER_ServerUnregisterModelRepository(server, path.c_str());
  });
}

PyObject* PollRepositories(PyObject* self, PyObject*) {
  return Do(self, TRITONSERVER_ServerPollModelRepository);
}

/// Reads (model, version, inputs, options, ...) and makes the call; `last` gets the argument after.
std::shared_ptr<Call> ReadCall(PyObject* self, PyObject* arguments, PyObject** waker,
                               unsigned int* trace_level) {
  PyObject* name_object = nullptr;
  PyObject* inputs = nullptr;
  PyObject* options = nullptr;
  long long version = -1;  // NOLINT: the type of the format "L"
  Text name;
  if (!PyArg_ParseTuple(arguments, "OLOOOI", &name_object, &version, &inputs, &options, waker,
                        trace_level) ||
      !name.Read(name_object, "a model name")) {
    return nullptr;
  }
  const std::shared_ptr<Engine> engine = EngineOf(self);
  if (engine == nullptr) return nullptr;
  return MakeCall(engine, name.c_str(), version, inputs, options);
}

bool Submit(Call* call, unsigned int trace_level) {
  TRITONSERVER_Error* error = nullptr;
  {
    const GilRelease release;  // a model may run on this thread
    error = call->Submit(trace_level);
  }
  return Check(error);
}

/// submit(model, version, inputs, options, waker or None, trace level) -> Stream
PyObject* SubmitCall(PyObject* self, PyObject* arguments) {
  const DropBuriedLater drop_buried;
  PyObject* waker = nullptr;
  unsigned int trace_level = 0;
  std::shared_ptr<Call> call = ReadCall(self, arguments, &waker, &trace_level);
  if (call == nullptr) return nullptr;
  if (waker != Py_None) {
    std::shared_ptr<Waker> found = WakerOf(waker);
    if (found == nullptr) return nullptr;
    call->SetWaker(std::move(found));
  }
  if (!Submit(call.get(), trace_level)) return nullptr;
  return MakeStream(std::move(call));
}

/// infer(model, version, inputs, options, None, 0) -> a list of responses
PyObject* Infer(PyObject* self, PyObject* arguments) {
  const DropBuriedLater drop_buried;
  PyObject* waker = nullptr;
  unsigned int trace_level = 0;
  std::shared_ptr<Call> call = ReadCall(self, arguments, &waker, &trace_level);
  if (call == nullptr) return nullptr;
  if (!Submit(call.get(), trace_level) || !WaitForEnd(call.get())) return nullptr;
  // A thread of the engine may hold the call for a moment more.
  for (PyObject* const owner : call->TakeOwners()) Py_DECREF(owner);
  Ref responses(PyList_New(0));
  if (!responses) return nullptr;
  Answer answer;
  while (call->Take(&answer)) {
    const Ref response(ResponseTuple(answer));
    if (!response || PyList_Append(responses.get(), response.get()) < 0) return nullptr;
  }
  return responses.release();
}

PyObject* Address(PyObject* self, PyObject*) {
  const std::shared_ptr<Engine> engine = EngineOf(self);
  return engine == nullptr ? nullptr : PyLong_FromVoidPtr(engine->server());
}

PyMethodDef methods[] = {
    {"stop", Guarded<Stop>, METH_NOARGS, nullptr},
    {"address", Guarded<Address>, METH_NOARGS, nullptr},
    {"is_live", Guarded<IsLive>, METH_NOARGS, nullptr},
    {"is_ready", Guarded<IsReady>, METH_NOARGS, nullptr},
    {"metadata", Guarded<Metadata>, METH_NOARGS, nullptr},
    {"metrics", Guarded<Metrics>, METH_VARARGS, nullptr},
    {"model_index", Guarded<ModelIndex>, METH_VARARGS, nullptr},
    {"model_is_ready", Guarded<ModelIsReady>, METH_VARARGS, nullptr},
    {"model_metadata", Guarded<ModelMetadata>, METH_VARARGS, nullptr},
    {"model_statistics", Guarded<ModelStatistics>, METH_VARARGS, nullptr},
    {"model_config", Guarded<ModelConfig>, METH_VARARGS, nullptr},
    {"batch_properties", Guarded<BatchProperties>, METH_VARARGS, nullptr},
    {"transaction_properties", Guarded<TransactionProperties>, METH_VARARGS, nullptr},
    {"load", Guarded<Load>, METH_VARARGS, nullptr},
    {"unload", Guarded<Unload>, METH_VARARGS, nullptr},
    {"register_repository", Guarded<RegisterRepository>, METH_VARARGS, nullptr},
    {"unregister_repository", Guarded<UnregisterRepository>, METH_O, nullptr},
    {"poll_repositories", Guarded<PollRepositories>, METH_NOARGS, nullptr},
    {"submit", Guarded<SubmitCall>, METH_VARARGS, nullptr},
    {"infer", Guarded<Infer>, METH_VARARGS, nullptr},
    {}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(GuardedNew<New>)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
                       {Py_tp_methods, methods},
                       {}};
PyType_Spec spec = {"nereid._core.Server", sizeof(ServerObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

bool AddServerType(PyObject* module) {
  server_type = AddType(module, "Server", &spec);
  return server_type != nullptr;
}

std::shared_ptr<Engine> EngineOf(PyObject* server) {
  if (PyObject_TypeCheck(server, server_type) == 0) {
    PyErr_SetString(PyExc_TypeError, "a Server is needed");
    return nullptr;
  }
  std::shared_ptr<Engine> engine = Of(server);
  if (engine == nullptr) {
    Raise(TRITONSERVER_ERROR_INVALID_ARG, "Server not started");
    return nullptr;
  }
  if (!CheckProcess(*engine)) return nullptr;
  return engine;
}

}  // namespace nereid::python
