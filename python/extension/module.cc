// SPDX-License-Identifier: Apache-2.0
// The module nereid._core. Its functions and types are described in python/nereid/_core.pyi.
#include "python/extension/bound.h"
#include "python/extension/errors.h"
#include "python/extension/frontends.h"
#include "python/extension/metrics.h"
#include "python/extension/server.h"
#include "python/extension/stream.h"
#include "python/extension/tensors.h"
#include "python/extension/waker.h"

namespace nereid::python {
namespace {

PyMethodDef functions[] = {
    {"set_error_classes", Guarded<SetErrorClasses>, METH_O, nullptr},
    {"set_converter", Guarded<SetConverter>, METH_O, nullptr},
    {"export_dlpack", Guarded<ExportDlpack>, METH_VARARGS, nullptr},
    {"import_dlpack", Guarded<ImportDlpack>, METH_O, nullptr},
    {"export_array_struct", Guarded<ExportArrayStruct>, METH_VARARGS, nullptr},
    {"pack_strings", Guarded<PackStrings>, METH_VARARGS, nullptr},
    {"unpack_strings", Guarded<UnpackStrings>, METH_VARARGS, nullptr},
    {"metric_family_new", Guarded<MetricFamilyNew>, METH_VARARGS, nullptr},
    {"metric_new", Guarded<MetricNew>, METH_VARARGS, nullptr},
    {"metric_value", Guarded<MetricValue>, METH_O, nullptr},
    {"metric_increment", Guarded<MetricIncrement>, METH_VARARGS, nullptr},
    {"metric_set", Guarded<MetricSet>, METH_VARARGS, nullptr},
    {"metric_kind", Guarded<MetricKind>, METH_O, nullptr},
    {}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_core", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace nereid::python

extern "C" __attribute__((visibility("default"))) PyObject* PyInit__core() {
  using namespace nereid::python;
  PyObject* const module = PyModule_Create(&definition);
  if (module == nullptr) return nullptr;
  if (AddServerType(module) && AddStreamType(module) && AddWakerType(module) &&
      AddFrontendsType(module) && AddBoundTypes(module)) {
    return module;
  }
  Py_DECREF(module);
  return nullptr;
}
