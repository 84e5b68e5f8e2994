// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "python/extension/call.h"
#include "python/extension/python.h"

namespace nereid::python {

/// Makes a request with inputs and settings from Python objects; null with an error. `version` -1:
/// as the model's policy decides.
///  - `inputs`: a dict from the name to a value of ReadTensor (tensors.h).
///  - `options`: None, or a tuple (request id, flags, correlation id, priority, timeout in
///    microseconds, parameters, names of outputs). A str, an int, an int or a str, an int, an int,
///    a dict, a sequence of str; each may be None.
std::shared_ptr<Call> MakeCall(const std::shared_ptr<Engine>& engine, const char* model,
                               int64_t version, PyObject* inputs, PyObject* options);

}  // namespace nereid::python
