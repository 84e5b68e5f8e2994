// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/extension/python.h"

namespace nereid::python {

// Functions of the module for custom metrics. Families and metrics are capsules, which delete them;
// the capsule of a metric keeps that of its family. _core.pyi describes the arguments.
PyObject* MetricFamilyNew(PyObject* module, PyObject* arguments);
PyObject* MetricNew(PyObject* module, PyObject* arguments);
PyObject* MetricValue(PyObject* module, PyObject* metric);
PyObject* MetricIncrement(PyObject* module, PyObject* arguments);
PyObject* MetricSet(PyObject* module, PyObject* arguments);
PyObject* MetricKind(PyObject* module, PyObject* metric);

}  // namespace nereid::python
