// SPDX-License-Identifier: Apache-2.0
// Defines the entry points of the backend.
#include "nereid/backend/plugin.h"

#include "python/backend_state.h"
#include "python/instance.h"
#include "python/model.h"

NEREID_BACKEND_PLUGIN(nereid::python::PythonBackend, nereid::python::PythonModel,
                      nereid::python::PythonInstance);
NEREID_BACKEND_READINESS;
NEREID_BACKEND_ROOM;
NEREID_BACKEND_INPUT_MEMORY(nereid::python::PythonModel);
