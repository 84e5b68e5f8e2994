// SPDX-License-Identifier: Apache-2.0
#include "python/extension/metrics.h"

#include "python/extension/errors.h"
#include "python/extension/parameters.h"

namespace nereid::python {
namespace {

constexpr char kFamilyName[] = "nereid.metric_family";
constexpr char kMetricName[] = "nereid.metric";

TRITONSERVER_MetricFamily* FamilyIn(PyObject* capsule) {
  return static_cast<TRITONSERVER_MetricFamily*>(PyCapsule_GetPointer(capsule, kFamilyName));
}

TRITONSERVER_Metric* MetricIn(PyObject* capsule) {
  return static_cast<TRITONSERVER_Metric*>(PyCapsule_GetPointer(capsule, kMetricName));
}

void DeleteFamily(PyObject* capsule) {
  TRITONSERVER_ErrorDelete(TRITONSERVER_MetricFamilyDelete(FamilyIn(capsule)));
}

void DeleteMetric(PyObject* capsule) {
  TRITONSERVER_ErrorDelete(TRITONSERVER_MetricDelete(MetricIn(capsule)));
  const Ref family(static_cast<PyObject*>(PyCapsule_GetContext(capsule)));
}

}  // namespace

PyObject* MetricFamilyNew(PyObject*, PyObject* arguments) {
  int kind = 0;
  PyObject* name_object = nullptr;
  PyObject* description_object = nullptr;
  Text name;
  Text description;
  if (!PyArg_ParseTuple(arguments, "iOO", &kind, &name_object, &description_object) ||
      !name.Read(name_object, "name") || !description.Read(description_object, "description")) {
    return nullptr;
  }
  TRITONSERVER_MetricFamily* family = nullptr;
  if (!Check(TRITONSERVER_MetricFamilyNew(&family, static_cast<TRITONSERVER_MetricKind>(kind),
                                          name.c_str(), description.c_str()))) {
    return nullptr;
  }
  PyObject* const capsule = PyCapsule_New(family, kFamilyName, DeleteFamily);
  if (capsule == nullptr) TRITONSERVER_ErrorDelete(TRITONSERVER_MetricFamilyDelete(family));
  return capsule;
}

PyObject* MetricNew(PyObject*, PyObject* arguments) {
  PyObject* family_capsule = nullptr;
  PyObject* label_dict = nullptr;
  Parameters labels;
  if (!PyArg_ParseTuple(arguments, "OO", &family_capsule, &label_dict) ||
      !labels.Read(label_dict)) {
    return nullptr;
  }
  TRITONSERVER_MetricFamily* const family = FamilyIn(family_capsule);
  TRITONSERVER_Metric* metric = nullptr;
  if (family == nullptr ||
      !Check(TRITONSERVER_MetricNew(&metric, family, labels.data(), labels.size()))) {
    return nullptr;
  }
  PyObject* const capsule = PyCapsule_New(metric, kMetricName, DeleteMetric);
  if (capsule == nullptr) {
    TRITONSERVER_ErrorDelete(TRITONSERVER_MetricDelete(metric));
    return nullptr;
  }
  PyCapsule_SetContext(capsule, Ref::Borrow(family_capsule).release());
  return capsule;
}

PyObject* MetricValue(PyObject*, PyObject* capsule) {
  TRITONSERVER_Metric* const metric = MetricIn(capsule);
  double value = 0;
  if (metric == nullptr || !Check(TRITONSERVER_MetricValue(metric, &value))) return nullptr;
  return PyFloat_FromDouble(value);
}

namespace {

template <TRITONSERVER_Error* (*kChange)(TRITONSERVER_Metric*, double)>
PyObject* Change(PyObject* arguments) {
  PyObject* capsule = nullptr;
  double value = 0;
  if (!PyArg_ParseTuple(arguments, "Od", &capsule, &value)) return nullptr;
  TRITONSERVER_Metric* const metric = MetricIn(capsule);
  return metric != nullptr && Check(kChange(metric, value)) ? None() : nullptr;
}

}  // namespace

PyObject* MetricIncrement(PyObject*, PyObject* arguments) {
  return Change<TRITONSERVER_MetricIncrement>(arguments);
}

PyObject* MetricSet(PyObject*, PyObject* arguments) {
  return Change<TRITONSERVER_MetricSet>(arguments);
}

PyObject* MetricKind(PyObject*, PyObject* capsule) {
  TRITONSERVER_Metric* const metric = MetricIn(capsule);
  TRITONSERVER_MetricKind kind = TRITONSERVER_METRIC_KIND_COUNTER;
  if (metric == nullptr || !Check(TRITONSERVER_GetMetricKind(metric, &kind))) return nullptr;
  return PyLong_FromLong(kind);
}

}  // namespace nereid::python
