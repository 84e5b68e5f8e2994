// SPDX-License-Identifier: Apache-2.0
// Defines the entry points of the backend.
#include "nereid/backend/plugin.h"

#include "openvino/model.h"

NEREID_BACKEND_PLUGIN(nereid::openvino::Environment, nereid::openvino::OpenVinoModel,
                      nereid::openvino::OpenVinoInstance);
NEREID_BACKEND_CPU_THREADS;
