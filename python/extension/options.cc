// SPDX-License-Identifier: Apache-2.0
#include "python/extension/options.h"

#include <limits>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "python/extension/errors.h"

namespace nereid::python {
namespace {

/// An argument of a setter, read from a Python object.
template <typename T>
class Argument {
 public:
  bool Read(PyObject* object, const char* setter) {
    if constexpr (std::is_same_v<T, const char*>) {
      if (!text_.Read(object, setter)) return false;
      value_ = text_.c_str();
      return true;
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!PyBool_Check(object)) return Fail(object, setter, "bool");
      value_ = object == Py_True;
      return true;
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!PyFloat_Check(object) && !PyLong_Check(object)) return Fail(object, setter, "float");
      value_ = PyFloat_AsDouble(object);
      return value_ != -1 || PyErr_Occurred() == nullptr;
    } else {
      return ReadInteger(object, setter);
    }
  }
  T value() const { return value_; }

 private:
  bool ReadInteger(PyObject* object, const char* setter) {
    if (!PyLong_Check(object) || PyBool_Check(object)) return Fail(object, setter, "int");
    if constexpr (std::is_enum_v<T>) {
      value_ = static_cast<T>(PyLong_AsLong(object));
      return PyErr_Occurred() == nullptr;
    } else if constexpr (std::is_signed_v<T>) {
      const long long number = PyLong_AsLongLong(object);  // NOLINT: Python's type
      if (PyErr_Occurred() != nullptr) return false;
      value_ = static_cast<T>(number);
      return value_ == number || TooLarge(setter);
    } else {
      const unsigned long long number = PyLong_AsUnsignedLongLong(object);  // NOLINT
      if (PyErr_Occurred() != nullptr) return false;
      value_ = static_cast<T>(number);
      return value_ == number || TooLarge(setter);
    }
  }
  static bool Fail(PyObject* object, const char* setter, const char* expected) {
    const Ref type(PyObject_Str(reinterpret_cast<PyObject*>(Py_TYPE(object))));
    Text text;
    if (type && text.Read(type.get(), "a type")) {
      PyErr_Format(PyExc_TypeError, "%s: expected %s, got %s", setter, expected, text.c_str());
    }
    return false;
  }
  static bool TooLarge(const char* setter) {
    PyErr_Format(PyExc_OverflowError, "%s: the number is too large", setter);
    return false;
  }

  Text text_;
  T value_{};
};

template <typename... Arguments>
using Setter = TRITONSERVER_Error* (*)(TRITONSERVER_ServerOptions*, Arguments...);

template <typename... Arguments, size_t... kIndex>
bool CallSetter(Setter<Arguments...> setter, const char* name, TRITONSERVER_ServerOptions* options,
                PyObject* tuple, std::index_sequence<kIndex...>) {
  constexpr Py_ssize_t kFirst = 1;  // after the name
  if (PyTuple_Size(tuple) != kFirst + static_cast<Py_ssize_t>(sizeof...(Arguments))) {
    PyErr_Format(PyExc_TypeError, "%s: wrong number of arguments", name);
    return false;
  }
  std::tuple<Argument<Arguments>...> arguments;
  if (!(std::get<kIndex>(arguments).Read(
            PyTuple_GetItem(tuple, kFirst + static_cast<Py_ssize_t>(kIndex)), name) &&
        ...)) {
    return false;
  }
  return Check(setter(options, std::get<kIndex>(arguments).value()...));
}

using Apply = bool (*)(const char* name, TRITONSERVER_ServerOptions* options, PyObject* tuple);

template <auto kSetter, typename... Arguments>
bool ApplySetter(const char* name, TRITONSERVER_ServerOptions* options, PyObject* tuple) {
  return CallSetter<Arguments...>(kSetter, name, options, tuple,
                                  std::index_sequence_for<Arguments...>());
}

template <auto kSetter, typename... Arguments>
constexpr Apply ApplyOf(Setter<Arguments...>) {
  return ApplySetter<kSetter, Arguments...>;
}

struct NamedSetter {
  std::string_view name;
  Apply apply;
};

#define NEREID_SETTER(name)                                                         \
  {                                                                                 \
#name, ApplyOf < TRITONSERVER_ServerOptions##name>                              \
               (static_cast <decltype(&TRITONSERVER_ServerOptions##name)>(nullptr)) \
  }

constexpr NamedSetter kSetters[] = {
    NEREID_SETTER(SetServerId),
    NEREID_SETTER(SetModelRepositoryPath),
    NEREID_SETTER(SetModelControlMode),
    NEREID_SETTER(SetStartupModel),
    NEREID_SETTER(SetStrictModelConfig),
    NEREID_SETTER(SetRateLimiterMode),
    NEREID_SETTER(AddRateLimiterResource),
    NEREID_SETTER(SetPinnedMemoryPoolByteSize),
    NEREID_SETTER(SetCudaMemoryPoolByteSize),
    NEREID_SETTER(SetCacheConfig),
    NEREID_SETTER(SetCacheDirectory),
    NEREID_SETTER(SetMinSupportedComputeCapability),
    NEREID_SETTER(SetExitOnError),
    NEREID_SETTER(SetStrictReadiness),
    NEREID_SETTER(SetExitTimeout),
    NEREID_SETTER(SetBufferManagerThreadCount),
    NEREID_SETTER(SetModelLoadThreadCount),
    NEREID_SETTER(SetModelLoadRetryCount),
    NEREID_SETTER(SetModelNamespacing),
    NEREID_SETTER(SetEnablePeerAccess),
    NEREID_SETTER(SetLogFile),
    NEREID_SETTER(SetLogInfo),
    NEREID_SETTER(SetLogWarn),
    NEREID_SETTER(SetLogError),
    NEREID_SETTER(SetLogFormat),
    NEREID_SETTER(SetLogVerbose),
    NEREID_SETTER(SetMetrics),
    NEREID_SETTER(SetGpuMetrics),
    NEREID_SETTER(SetCpuMetrics),
    NEREID_SETTER(SetMetricsInterval),
    NEREID_SETTER(SetBackendDirectory),
    NEREID_SETTER(SetRepoAgentDirectory),
    NEREID_SETTER(SetModelLoadDeviceLimit),
    NEREID_SETTER(SetBackendConfig),
    NEREID_SETTER(SetHostPolicy),
    NEREID_SETTER(SetMetricsConfig),
};
#undef NEREID_SETTER

bool ApplySetting(TRITONSERVER_ServerOptions* options, PyObject* tuple) {
  Text name;
  if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) < 1 ||
      !name.Read(PyTuple_GetItem(tuple, 0), "the name of a setting")) {
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_TypeError, "a setting must be a tuple");
    return false;
  }
  for (const NamedSetter& setter : kSetters) {
    if (setter.name == name.c_str()) return setter.apply(name.c_str(), options, tuple);
  }
  PyErr_Format(PyExc_ValueError, "there is no setting %s", name.c_str());
  return false;
}

}  // namespace

TRITONSERVER_ServerOptions* MakeOptions(PyObject* settings) {
  if (!PyList_Check(settings)) {
    PyErr_SetString(PyExc_TypeError, "settings must be a list");
    return nullptr;
  }
  TRITONSERVER_ServerOptions* options = nullptr;
  if (!Check(TRITONSERVER_ServerOptionsNew(&options))) return nullptr;
  for (Py_ssize_t i = 0; i < PyList_Size(settings); ++i) {
    if (!ApplySetting(options, PyList_GetItem(settings, i))) {
      TRITONSERVER_ErrorDelete(TRITONSERVER_ServerOptionsDelete(options));
      return nullptr;
    }
  }
  return options;
}

}  // namespace nereid::python
